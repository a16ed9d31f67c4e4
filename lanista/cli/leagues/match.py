"""`lanista match`: recorded gating and rating games, and their replays."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Literal

import typer
from rich.markup import escape

from api.schemas.games import Position, Replay
from api.schemas.matches import MatchSummary
from lanista.cli.connection import TrialArgument, connected
from lanista.cli.options import HomeOption, JsonOption, LimitOption
from lanista.cli.terminal import out, print_json, print_line, uncut_table
from league.types import Stream

match = typer.Typer(help="Recorded games: list, show, replay.", no_args_is_help=True)

MatchArgument = Annotated[int, typer.Argument(metavar="MATCH", help="The match's number.", min=1, show_default=False)]
RecordedStream = Literal["gating", "rating"]


@match.command("list")
def list_all(
    trial: TrialArgument,
    player: Annotated[str | None, typer.Option("--player", help="Only games of this player, by name.")] = None,
    opponent: Annotated[str | None, typer.Option("--opponent", help="Only games against this player.")] = None,
    stream: Annotated[RecordedStream | None, typer.Option("--stream", help="gating or rating.")] = None,
    limit: LimitOption = 30,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List a trial's recorded games, newest first. Training games are counted, not recorded."""
    with connected(home) as client:
        found = client.find_trial(trial)
        listing = client.matches(
            found,
            stream=None if stream is None else Stream(stream),
            player_id=None if player is None else client.find_player(found, player).id,
            opponent_id=None if opponent is None else client.find_player(found, opponent).id,
            page_size=min(limit, 500),
        )
        games = list(islice(listing, limit))
    if as_json:
        print_json([one.model_dump(mode="json") for one in games])
        return
    table = uncut_table("match", "kind", "played", "first", "result", "second", "moves")
    for one in games:
        played = one.played_at.astimezone().strftime("%m-%d %H:%M:%S")
        plies = str(one.plies) if one.moves_pruned_at is None else f"{one.plies}, pruned"
        table.add_row(str(one.id), one.stream, played, *_sides(one), plies)
    out.print(table)


@match.command()
def show(match: MatchArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show a recorded game: who played, the result, and its moves by number."""
    with connected(home) as client:
        found = client.match(match)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    _headline(found)
    if found.moves is None:
        print_line(f"seed {found.seed} · the moves were pruned on {found.moves_pruned_at:%Y-%m-%d}")
    else:
        print_line(f"seed {found.seed} · moves {' '.join(str(action) for action in found.moves)}")


@match.command()
def replay(
    match: MatchArgument,
    seat: Annotated[
        int | None, typer.Option("--seat", min=0, help="As this seat sees it; default: everything.")
    ] = None,
    annotate: Annotated[
        str | None,
        typer.Option("--annotate", metavar="VERSION", help="Add this version's probabilities and values."),
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Replay a recorded game, position by position."""
    with connected(home) as client:
        version = None if annotate is None else client.find_version(annotate).id
        played = client.replay(match, seat=seat, annotate=version)
    if as_json:
        print_json(played.model_dump(mode="json"))
    else:
        _show_replay(played)


def _show_replay(played: Replay) -> None:
    _headline(played.match)
    print_line(escape(played.notation))
    for position in played.positions:
        print_line(f"\n[bold]{_position_title(position)}[/]")
        print_position(position)


def _position_title(position: Position) -> str:
    if position.done:
        return f"the end: returns {', '.join(f'{value:g}' for value in position.returns)}"
    moves = ", ".join(f"seat {seat} plays {name}" for seat, name in zip(position.seats, position.names, strict=False))
    value = "" if position.value is None else f" · value {position.value:+.2f}"
    return escape(f"move {position.ply + 1}: {moves}{value}")


def print_position(position: Position) -> None:
    """The position as text, and what the annotating version would do."""
    out.print(position.text.rstrip(), markup=False, highlight=False, soft_wrap=True)
    for seat, legal in zip(position.seats, position.legal, strict=False):
        known = [(action.probability, action.name) for action in legal if action.probability is not None]
        if known:
            likeliest = sorted(known, reverse=True)[:5]
            words = ", ".join(f"{name} {probability:.0%}" for probability, name in likeliest)
            print_line(f"[dim]seat {seat}: {escape(words)}[/]")


def _headline(one: MatchSummary) -> None:
    first, result, second = _sides(one)
    print_line(f"[bold]match {one.id}[/] ({one.stream}): {first} {result} against {second}, {one.plies} moves")


def _sides(one: MatchSummary) -> tuple[str, str, str]:
    first = escape(f"{one.player}:{one.version_number}")
    return first, one.result.value, escape(f"{one.opponent}:{one.opponent_version_number}")
