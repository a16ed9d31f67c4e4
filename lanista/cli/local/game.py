"""`lanista game`: checks of games, in this process."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape

from lanista.cli.connection import ExitCode
from lanista.cli.leagues.trial_orders import parse_changes
from lanista.cli.options import JsonOption
from lanista.cli.stack_extra import require_packages
from lanista.cli.terminal import errors, out, print_json, print_line, uncut_table

game = typer.Typer(help="Games: check one of your own.", no_args_is_help=True)


@game.callback()
def _group() -> None:
    """Games: check one of your own."""


@game.command()
def check(
    name: Annotated[
        str, typer.Argument(metavar="GAME", help="module:Game, or a name of the catalog.", show_default=False)
    ],
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="OPTION=VALUE", help="Option of the game, as most=21.")
    ] = None,
    games: Annotated[int, typer.Option("--games", min=1, help="Games of random moves.")] = 1000,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="At most this long.")] = 60.0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random moves.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Play a game with random moves and report shapes, legality, determinism and speed. Exit code 1 if it is wrong."""
    require_packages(("numpy", "gymnasium"))
    from lanista.client.code_packing import code_folders
    from lanista.training.source import make_importable
    from workers.games.checking import check_game
    from workers.games.names import make_game

    make_importable(code_folders())
    given = parse_changes(options or [])
    report = check_game(lambda tables: make_game(name, tables, **given), games=games, seconds=seconds, seed=seed)
    if as_json:
        print_json({"ok": not report.problems, **asdict(report)})
    else:
        table = uncut_table("property", "value")
        for fact, value in report.facts.items():
            table.add_row(fact, escape(value))
        if report.facts:
            out.print(table)
        if report.passed:
            print_line(f"[green]ok[/]: {', '.join(report.passed)}")
        for problem in report.problems:
            if problem.place:
                errors.print(problem.place, highlight=False, markup=False, soft_wrap=True)
            errors.print(f"{problem.check}: {problem.text}", style="red", highlight=False, markup=False, soft_wrap=True)
    if report.problems:
        raise typer.Exit(ExitCode.FAILED)
