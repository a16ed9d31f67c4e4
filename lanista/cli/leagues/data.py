"""`lanista data`: data sets from the recorded games of a league."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from lanista.cli.connection import ExitCode, TrialArgument, connected
from lanista.cli.options import HomeOption, JsonOption
from lanista.cli.stack_extra import require_stack
from lanista.cli.terminal import errors, print_json, print_line

data = typer.Typer(help="Data sets for imitation and offline learning.", no_args_is_help=True)


@data.callback()
def _group() -> None:
    """Data sets for imitation and offline learning."""


@data.command()
def export(
    trial: TrialArgument,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder for the files.", show_default=False)],
    player: Annotated[str | None, typer.Option("--player", help="Only decisions of this player, by name.")] = None,
    version: Annotated[int | None, typer.Option("--version", help="Only of this version of the player.")] = None,
    winners: Annotated[bool, typer.Option("--winners", help="Only decisions of the side that won.")] = False,
    games: Annotated[int | None, typer.Option("--games", help="At most this many games, newest first.", min=1)] = None,
    validation: Annotated[
        float, typer.Option("--validation", help="Share of the games that is held out for validation.", min=0, max=1)
    ] = 0.1,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the decisions of a league's gating and rating games to .npz files, to learn from."""
    require_stack()
    from lanista.datasets import GameFilter, export_games  # imports what only the stack has

    if version is not None and player is None:
        errors.print("[red]--version needs --player[/]")
        raise typer.Exit(ExitCode.REFUSED)
    which = GameFilter(player=player, version=version, winners=winners, games=games)
    with connected(home) as client, errors.status("Replaying games …") as status:
        found = client.find_trial(trial)
        try:
            made = export_games(
                client,
                found,
                folder,
                which,
                validation=validation,
                progress=lambda count: status.update(f"{count:,} games replayed …"),
            )
        except FileExistsError as error:
            errors.print(f"[red]{escape(str(error))}[/]", soft_wrap=True)
            raise typer.Exit(ExitCode.REFUSED) from None
    if as_json:
        rows = {"train_rows": made.train_rows, "validation_rows": made.validation_rows}
        print_json({"files": [str(path) for path in made.files], "games": made.games, **rows})
    elif not made.files:
        print_line(f"{made.games:,} games, and no decision that was asked for; nothing was written.")
    else:
        print_line(
            f"{made.games:,} games: {made.train_rows:,} decisions to learn from, {made.validation_rows:,} to measure "
            f"on, in {len(made.files)} files of {escape(str(folder))}."
        )
