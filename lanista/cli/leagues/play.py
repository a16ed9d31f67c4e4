"""`lanista play`: a game of a person at the terminal against a version."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from api.schemas.games import Game, Position
from lanista.cli.connection import connected
from lanista.cli.leagues.match import print_position
from lanista.cli.options import HomeOption, JsonOption
from lanista.cli.terminal import errors, out, print_json, print_line
from lanista.client import Client
from lanista.client.errors import InvalidRequest


def play(
    version: Annotated[
        str,
        typer.Argument(
            metavar="VERSION",
            help="The opponent: project/trial/player:number, project/trial/player (the newest), project@alias (or "
            "project@alias:game), or its id.",
            show_default=False,
        ),
    ],
    seat: Annotated[int, typer.Option("--seat", min=0, max=63, help="Your seat; seat 0 moves first.")] = 0,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Seed of the game; default: any.")] = None,
    best: Annotated[
        bool | None,
        typer.Option(
            "--best/--sampled",
            help="The opponent takes its best move, or samples from its policy; default: its best, but sampled where "
            "moves are hidden or made at once.",
            show_default=False,
        ),
    ] = None,
    search: Annotated[
        int | None, typer.Option("--search", min=1, max=1000, help="The opponent searches with this many simulations.")
    ] = None,
    moves: Annotated[
        str | None, typer.Option("--moves", help="Your moves, separated by commas, instead of asking for them.")
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play a game against a version in the terminal. Type a move's name or number; Ctrl-C leaves the game."""
    given = None if moves is None else [move.strip() for move in moves.split(",") if move.strip()]
    with connected(home) as client:
        opponent = client.find_version(version)
        sampled = None if best is None else not best
        game = client.begin_game(opponent.id, seat=seat, seed=seed, sampled=sampled, search=search)
        if not as_json:
            print_line(f"You have seat {seat} against {escape(opponent.player)}:{opponent.number}.")
        while not game.position.done:
            if not as_json:
                print_position(game.position)
            move = _next_move(game.position, given)
            if move is None:
                break
            game = _made(client, game, move, interactive=given is None)
    if as_json:
        print_json(game.model_dump(mode="json"))
    else:
        _tell_end(game)


def _next_move(position: Position, given: list[str] | None) -> str | None:
    """The next move as text: of those given, else asked for; None where none is left."""
    if given is not None:
        return given.pop(0) if given else None
    answer: str = typer.prompt(f"Your move ({_choices(position)})", err=True)
    return answer.strip()


def _choices(position: Position) -> str:
    if position.numbers:
        return "numbers: " + "; ".join(
            f"{'' if number.low is None else f'{number.low:g}'}…{'' if number.high is None else f'{number.high:g}'}"
            for number in position.numbers
        )
    return ", ".join(action.name for action in position.legal[0][:30])


def _made(client: Client, game: Game, move: str, *, interactive: bool) -> Game:
    """The game after the move; a move that is not allowed is told, and asked for again."""
    try:
        if game.position.numbers:
            return client.make_move(game.id, numbers=[float(number) for number in move.replace(";", " ").split()])
        return client.make_move(game.id, action=_action(game.position, move))
    except (ValueError, InvalidRequest) as error:
        if not interactive:
            raise typer.BadParameter(str(error), param_hint="--moves") from None
        errors.print(f"[red]{escape(str(error))}[/]", soft_wrap=True)
        return game


def _action(position: Position, move: str) -> int:
    """The action of this name, else of this number; raises ValueError with the legal ones."""
    legal = position.legal[0]
    named = {action.name: action.action for action in legal}
    if move in named:
        return named[move]
    if move.isdigit() and int(move) in named.values():
        return int(move)
    raise ValueError(f"{move!r} is not a legal move; legal: {_choices(position)}")


def _tell_end(game: Game) -> None:
    position = game.position
    if not position.done:
        print_line(f"Not finished; the game is {game.id}.")
        return
    out.print(position.text.rstrip(), markup=False, highlight=False, soft_wrap=True)
    mine = position.returns[game.seat]
    others = [value for seat, value in enumerate(position.returns) if _is_other(position, game.seat, seat)]
    if not others:
        print_line(f"The game is over: your return is {mine:g}.")
        return
    words = "You won" if mine > max(others) else "You lost" if mine < max(others) else "A draw"
    print_line(f"{words}: your return is {mine:g}.")


def _is_other(position: Position, own: int, seat: int) -> bool:
    teams = position.teams or list(range(len(position.returns)))
    return teams[seat] != teams[own]
