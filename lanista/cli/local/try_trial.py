"""`lanista try`: one trial in this process, with a progress bar, live metrics and an evaluation at the end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from lanista.cli.connection import ExitCode
from lanista.cli.leagues.trial import FileArgument
from lanista.cli.leagues.trial_checks import invalid_components
from lanista.cli.leagues.trial_orders import parse_changes
from lanista.cli.options import JsonOption
from lanista.cli.stack_extra import require_packages
from lanista.cli.terminal import errors, out, print_json, print_line, uncut_table
from orchestrator.spec import InvalidTrial

if TYPE_CHECKING:
    from lanista.training.run import Run

PACKAGES = ("torch", "temporalio")
DEFAULT_MINUTES = 1.0


def try_trial(
    file: FileArgument,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="Steps of all players together, instead of the file's budget.")
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", min=0.0, help="Time limit; default: 1, unless --steps or --generations is given."),
    ] = None,
    generations: Annotated[
        int | None, typer.Option("--generations", min=1, help="Generations of all players together.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change to the trial file, as generation.steps=20000."),
    ] = None,
    games: Annotated[
        int, typer.Option("--games", min=0, help="Games against random moves after each generation, for the curve.")
    ] = 64,
    to: Annotated[
        Path | None, typer.Option("--to", help="Folder for checkpoints and metrics; default: lanista-try/TRIAL.")
    ] = None,
    ray: Annotated[bool, typer.Option("--ray", help="Use a local Ray, for files with several processes.")] = False,
    pdb: Annotated[bool, typer.Option("--pdb", help="On an error, debug it where your own code raised it.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Train a trial file in this process, without a stack, and evaluate what it learnt."""
    require_packages(PACKAGES)
    # torch is imported here, not at the top: other commands start without it
    from lanista.cli.local.try_display import display
    from lanista.cli.local.user_errors import report_errors

    if minutes is None and steps is None and generations is None:
        minutes = DEFAULT_MINUTES
    limits = {"minutes": minutes, "generations": generations}
    with report_errors(debug=pdb):
        try:
            run = _begin(file, steps, limits, parse_changes(changes or []), games, to, ray, debugged=pdb)
        except InvalidTrial as error:
            for problem in error.problems:
                errors.print(str(problem), highlight=False, markup=False, soft_wrap=True)
            raise typer.Exit(ExitCode.FAILED) from None
        with display(run, live=out.is_terminal and not (as_json or pdb), lines=not as_json) as shown:
            interrupted = _train(run, shown)
    _report(run, as_json, interrupted)


def _begin(
    file: Path,
    steps: int | None,
    limits: dict[str, Any],
    changes: dict[str, Any],
    games: int,
    to: Path | None,
    ray: bool,
    *,
    debugged: bool,
) -> Run:
    """Raises InvalidTrial also for components that cannot be made, unless their own error is to be debugged."""
    from lanista.training.run import Limits, Run
    from lanista.training.source import read_source

    source = read_source(file, changes, steps=steps)
    folder = Path("lanista-try") / source.name if to is None else to
    try:
        return Run(source, Limits(**limits), games=games, folder=folder, ray=ray)
    except Exception as error:
        invalid = None if debugged else invalid_components(file, source.spec)
        if invalid is None:
            raise
        raise invalid from error


def _train(run: Run, shown: Any) -> bool:
    """Train to the end; True if Ctrl-C ended it, after which what was learnt is still evaluated."""
    run.on_progress, run.evaluator.on_pairing = shown.progress, shown.pairing
    try:
        for generation in run:
            shown.generation(generation)
    except KeyboardInterrupt:
        if not run.end:  # else it was interrupted in the evaluation
            shown.note("Interrupted: the generation under way is lost. Evaluating the last one …")
            run.end = "interrupted"
            run.evaluate()
        return True
    return False


def _report(run: Run, as_json: bool, interrupted: bool) -> None:
    if as_json:
        print_json(
            {
                "trial": run.name,
                "end": run.end,
                "seconds": run.seconds,
                "folder": None if run.folder is None else str(run.folder),
                "generations": [each.as_row() for each in run.generations],
                "evaluation": [vars(result) for result in run.evaluation],
            }
        )
    else:
        _print_report(run)
    if interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)


def _print_report(run: Run) -> None:
    print_line(f"\n[bold]{escape(run.name)}[/]: {run.league.steps:,} steps in {run.seconds:.1f} s; {escape(run.end)}.")
    print_line(f"Learning curve ({escape(run.curve_name)}):")
    for line in run.curves().splitlines():
        print_line(f"  {escape(line)}")
    table = uncut_table("player", "opponent", "games", "win rate", "95 %", "mean return", title="evaluation")
    for result in run.evaluation:
        rate = "" if result.win_rate is None else f"{result.win_rate:.3f}"
        interval = "" if result.low is None or result.high is None else f"{result.low:.3f} to {result.high:.3f}"
        opponent = result.opponent or "(alone)"
        table.add_row(result.player, opponent, str(result.games), rate, interval, f"{result.mean_return:.3f}")
    out.print(table)
    if run.folder is not None:
        print_line(f"Checkpoints and metrics: {escape(str(run.folder))}")
    print_line("In a league: lanista up --detach, then lanista trial start FILE. Gates and promotion need it.")
