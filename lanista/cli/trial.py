"""`lanista trial`: trial files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from lanista.cli.stack import JsonOption
from lanista.cli.terminal import errors, out, print_json
from orchestrator.spec import InvalidTrial, TrialFile, trial_json_schema
from orchestrator.spec.budget import BudgetSpec
from orchestrator.spec.loading import load_trial_file
from orchestrator.spec.values import duration_text

trial = typer.Typer(help="Trial files: check one before it runs.", no_args_is_help=True)

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Trial file (YAML).", show_default=False)]


@trial.command()
def validate(file: FileArgument, as_json: JsonOption = False) -> None:
    """Check a trial file and show what it asks for. Exit code 1 when something is wrong, with all of it said."""
    try:
        checked = load_trial_file(file)
    except InvalidTrial as error:
        _refuse(file, error, as_json)
        raise typer.Exit(1) from None
    if as_json:
        print_json({"ok": True, "file": str(file), "trial": checked.to_json()})
    else:
        out.print(
            f"[green]ok[/] {escape(str(file))}: trial {checked.trial} of project {checked.project}", highlight=False
        )
        _summarise(checked)


@trial.command()
def schema() -> None:
    """Print the JSON Schema of trial files, for editors that check while one types."""
    print_json(trial_json_schema())


def _refuse(file: Path, error: InvalidTrial, as_json: bool) -> None:
    if as_json:
        problems = [problem.as_dict() for problem in error.problems]
        print_json({"ok": False, "file": str(file), "problems": problems})
        return
    for problem in error.problems:
        errors.print(str(problem), highlight=False, markup=False, soft_wrap=True)
    count = len(error.problems)
    errors.print(f"[red]{count} problem{'s' if count > 1 else ''}[/] in {escape(str(file))}", highlight=False)


def _summarise(checked: TrialFile) -> None:
    table = Table("what", "as the file has it", show_header=False)
    table.add_row("game", checked.game.id)
    table.add_row("model, algorithm", f"{checked.model.id}, {checked.algorithm.id}")
    table.add_row("preset", checked.league.preset)
    for player in checked.league.players:
        table.add_row(f"player {player.name}", f"{player.role} {player.bot or player.weights or ''}".rstrip())
    generation = checked.generation
    table.add_row(
        "generation", f"{generation.steps:,} steps on {generation.rollout_actors} x {generation.tables} tables"
    )
    table.add_row("budget", _limits(checked.budget))
    table.add_row("start", checked.start)
    out.print(table)


def _limits(budget: BudgetSpec) -> str:
    limits = [f"{budget.steps:,} steps"] if budget.steps else []
    limits += [duration_text(budget.wall_clock)] if budget.wall_clock else []
    limits += [f"win rate {budget.until.win_rate:g} against {budget.until.opponent}"] if budget.until else []
    return " or ".join(limits)
