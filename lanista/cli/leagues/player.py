"""`lanista player`: players of a league: list, add, retune, retire."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any

import typer
from rich.markup import escape

from api.schemas.players import Player
from lanista.cli.connection import TrialArgument, connected
from lanista.cli.leagues.trial_orders import parse_changes
from lanista.cli.options import HomeOption, JsonOption, LimitOption
from lanista.cli.terminal import out, print_json, print_line, uncut_table
from league.types import Role
from orchestrator.user_code.code_archives import plain_name

player = typer.Typer(help="Players of a league: list, add, retune, retire.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(metavar="PLAYER", help="The player, by name.", show_default=False)]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="OPTION=VALUE", help="An option of its algorithm, as entropy=0.02 (repeatable)."),
]


@player.command("list")
def list_all(
    trial: TrialArgument, limit: LimitOption = 50, home: HomeOption = None, as_json: JsonOption = False
) -> None:
    """List the players of a league in the order they were added, snapshots included."""
    with connected(home) as client:
        found = client.find_trial(trial)
        players = list(islice(client.players(found, page_size=min(limit, 500)), limit))
    if as_json:
        print_json([one.model_dump(mode="json") for one in players])
        return
    table = uncut_table("player", "role", "status", "algorithm", "options", "generation", "steps", "id")
    for one in players:
        own = "" if one.algorithm is None else plain_name(str(one.algorithm.get("id", "")))
        options = ", ".join(f"{name}={value}" for name, value in one.hyperparameters.items())
        role = f"{one.role} {plain_name(one.bot)}" if one.bot else str(one.role)
        cells = (one.name, role, one.status, own, options, str(one.generation), f"{one.steps:,}", one.id)
        table.add_row(*(escape(cell) for cell in cells))
    out.print(table)


@player.command()
def add(
    trial: TrialArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new player.", show_default=False)],
    role: Annotated[Role, typer.Option("--role", help="Its role in the league.")] = Role.MAIN,
    bot: Annotated[str | None, typer.Option("--bot", help="Which bot it is; its role is then bot.")] = None,
    algorithm: Annotated[
        str | None, typer.Option("--algorithm", help="An algorithm of its own; default: the trial's.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="A model of its own; default: the trial's.")] = None,
    changes: SetOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a player to a running or paused league. It begins to train at the next generation."""
    options = parse_changes(changes or [])
    with connected(home) as client:
        made = client.add_player(
            client.find_trial(trial),
            name=name,
            role=Role.BOT if bot else role,
            bot=bot,
            algorithm=None if algorithm is None else {"id": algorithm, **options},
            hyperparameters=options if options and algorithm is None else None,
            model=None if model is None else {"id": model},
        )
    _tell(made, as_json, "joined")


@player.command()
def retune(
    trial: TrialArgument,
    player: NameArgument,
    changes: SetOption = None,
    reset: Annotated[bool, typer.Option("--reset", help="First drop all options of its own.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change options of a player's algorithm from its next generation on; others of its own stay."""
    options = parse_changes(changes or [])
    if not options and not reset:
        raise typer.BadParameter("give at least one option, as --set entropy=0.02", param_hint="--set")
    with connected(home) as client:
        found = client.find_player(client.find_trial(trial), player)
        kept: dict[str, Any] = {} if reset else found.hyperparameters
        changed = client.change_player(found.id, hyperparameters={**kept, **options}, if_revision=found.revision)
    _tell(changed, as_json, "is retuned from its next generation on")


@player.command()
def retire(trial: TrialArgument, player: NameArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Retire a player: it neither trains nor plays any more. Its versions and games stay."""
    with connected(home) as client:
        found = client.find_player(client.find_trial(trial), player)
        changed = client.change_player(found.id, retire=True)
    _tell(changed, as_json, "is retired")


def _tell(changed: Player, as_json: bool, words: str) -> None:
    if as_json:
        print_json(changed.model_dump(mode="json"))
        return
    options = ", ".join(f"{name}={value}" for name, value in changed.hyperparameters.items())
    print_line(f"{escape(changed.name)} {words}{escape(f' ({options})' if options else '')}.")
