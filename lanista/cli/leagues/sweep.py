"""`lanista sweep`: starts, checks, lists, shows, pauses, resumes and stops sweeps."""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from lanista.cli.connection import ExitCode, connected
from lanista.cli.leagues.code_upload import packed, shipped
from lanista.cli.options import HomeOption, JsonOption, LimitOption
from lanista.cli.terminal import errors, out, print_json, print_line, uncut_table
from lanista.client import Client
from lanista.client.errors import Conflict
from lanista.league_view.tables import status_text
from orchestrator.spec.reading.problems import InvalidTrial

if TYPE_CHECKING:
    from api.schemas.sweeps import Sweep, SweepTrial
    from orchestrator.spec.sweeps.sweep import SweepFile

sweep = typer.Typer(help="Sweeps over trials: start, check, list, show, pause, resume, stop.", no_args_is_help=True)

POLL_SECONDS = 0.5
FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Sweep file (YAML).", show_default=False)]
SweepArgument = Annotated[
    str,
    typer.Argument(
        metavar="SWEEP",
        help="The sweep: project/name, its name alone if that is unique, or its id.",
        show_default=False,
    ),
]


@sweep.command()
def start(
    file: FileArgument,
    project: Annotated[str | None, typer.Option("--project", "-p", help="Project, instead of the file's.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name, instead of the file's.")] = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Follow it until it ends.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a sweep file and start its sweep. With --watch, exit code 0 only if it completed."""
    checked = _checked(file, as_json)
    spec = checked.spec.to_json()
    code = packed(file, spec["trial"])
    with connected(home) as client:
        spec["trial"] = shipped(client, spec["trial"], code)
        try:
            made = client.create_sweep(project=project or checked.project, name=name or checked.sweep, spec=spec)
        except Conflict as error:
            errors.print(f"[red]{escape(str(error))}[/]; choose another name with --name.", soft_wrap=True)
            raise typer.Exit(ExitCode.REFUSED) from None
        if not as_json:
            print_line(f"Started [bold]{escape(made.label)}[/] ({made.id}).")
        if watch:
            made = _follow(client, made, quiet=as_json)
        if as_json:
            print_json(made.model_dump(mode="json"))
        elif watch:
            _show(client, made)
        else:
            print_line(f"Look at it: lanista sweep show {escape(made.label)}")
    if watch and made.status != "completed":
        raise typer.Exit(ExitCode.FAILED)


@sweep.command()
def validate(file: FileArgument, as_json: JsonOption = False) -> None:
    """Check a sweep file and summarise it. Exit code 1 if it is invalid, with all problems listed."""
    checked = _checked(file, as_json)
    if as_json:
        print_json({"ok": True, "file": str(file), "sweep": checked.to_json()})
        return
    out.print(f"[green]ok[/] {escape(str(file))}: sweep {checked.sweep} of project {checked.project}", highlight=False)
    table = Table("section", "value", show_header=False)
    table.add_row("method", checked.method if checked.sampler is None else f"{checked.method}, {checked.sampler}")
    table.add_row("trials", f"{checked.trial_count}, {checked.parallel or 'as many as crews are free'} at once")
    table.add_row("rungs", ", ".join(f"{steps:,}" for steps in checked.ladder.steps) + " steps")
    if checked.method == "hyperband":
        table.add_row("brackets", ", ".join(f"{one.trials} from rung {one.first_rung}" for one in checked.brackets))
    for path, one in checked.space.items():
        words = ", ".join(f"{kind} {value}" for kind, value in one.model_dump(exclude_none=True).items())
        table.add_row(escape(path), escape(words))
    out.print(table)


@sweep.command("list")
def list_all(
    project: Annotated[str | None, typer.Option("--project", "-p", help="Only of this project.")] = None,
    limit: LimitOption = 30,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List sweeps, newest first."""
    with connected(home) as client:
        found = list(islice(client.sweeps(project=project, page_size=min(limit, 500)), limit))
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
        return
    table = uncut_table("sweep", "method", "status", "trials", "stopped early", "steps", "best", "value", "id")
    for one in found:
        table.add_row(
            escape(one.label),
            one.method,
            status_text(one.status),
            f"{one.trials_ended}/{one.trials}",
            str(one.stopped_early),
            f"{one.steps:,}",
            escape(one.best_trial or ""),
            _number(one.best_value),
            one.id,
        )
    out.print(table)


@sweep.command()
def show(sweep: SweepArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show a sweep: its trials, the best first, their values at rungs, and which fields matter."""
    with connected(home) as client:
        found = client.find_sweep(sweep)
        if as_json:
            print_json({**found.model_dump(mode="json"), **_details(client, found)})
        else:
            _show(client, found)


@sweep.command()
def pause(sweep: SweepArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Pause a sweep: trials finish their generations and wait, and no further trial starts."""
    with connected(home) as client:
        told = client.pause_sweep(client.find_sweep(sweep).id)
    _say(told, as_json, "Its trials finish their generations and wait.")


@sweep.command()
def resume(sweep: SweepArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Resume a paused sweep."""
    with connected(home) as client:
        told = client.resume_sweep(client.find_sweep(sweep).id)
    _say(told, as_json, "Its trials train again.")


@sweep.command()
def stop(
    sweep: SweepArgument,
    reason: Annotated[str | None, typer.Option(help="Reason, kept in the records.")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop a sweep and all its trials. What they recorded stays."""
    with connected(home) as client:
        told = client.stop_sweep(client.find_sweep(sweep).id, reason=reason)
    _say(told, as_json, "Its trials end within seconds. What they recorded stays.")


def _checked(file: Path, as_json: bool) -> SweepFile:
    from orchestrator.spec.reading.sweep_loading import load_sweep_file

    try:
        return load_sweep_file(file)
    except InvalidTrial as error:
        if as_json:
            problems = [problem.as_dict() for problem in error.problems]
            print_json({"ok": False, "file": str(file), "problems": problems})
        for problem in () if as_json else error.problems:
            errors.print(str(problem), highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(ExitCode.FAILED) from None


def _follow(client: Client, held: Sweep, *, quiet: bool) -> Sweep:
    """Wait for the end, with a progress bar of the trials that have ended."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, disable=quiet) as progress:
        bar = progress.add_task(held.method, total=held.trials)
        while not held.is_over:
            time.sleep(POLL_SECONDS)
            held = client.sweep(held.id)
            progress.update(bar, completed=held.trials_ended)
    return held


def _details(client: Client, held: Sweep) -> dict[str, Any]:
    return {
        "trials_of_sweep": [one.model_dump(mode="json") for one in client.sweep_trials(held.id, page_size=500)],
        "importances": client.sweep_importances(held.id).model_dump(mode="json"),
    }


def _show(client: Client, held: Sweep) -> None:
    reason = f": {escape(held.status_reason)}" if held.status_reason else ""
    saved = 1 - held.steps / held.most_steps if held.is_over else None
    print_line(f"[bold]{escape(held.label)}[/] {held.method} is {status_text(held.status)}{reason}")
    share = "" if saved is None else f", {saved:.0%} fewer than without early stopping"
    print_line(
        f"{held.trials_ended} of {held.trials} trials ended, {held.stopped_early} of them early; "
        f"{held.steps:,} steps{share}"
    )
    trials = sorted(client.sweep_trials(held.id, page_size=500), key=_merit, reverse=True)
    paths = list(held.spec["space"])
    rungs = [f"{steps:,}" for steps in held.rungs]
    table = uncut_table("trial", "status", *(path.rpartition(".")[2] for path in paths), *rungs, "decision")
    for one in trials:
        values = {result.rung: _number(result.value) for result in one.rungs}
        at_rungs = [values.get(rung, "") for rung in range(len(rungs))]
        decision = one.rungs[-1].reason if one.rungs and one.rungs[-1].reason else ""
        words = ["stopped early" if one.stopped_early else status_text(one.status)]
        table.add_row(escape(one.name), *words, *(_shown(one.point[path]) for path in paths), *at_rungs, decision)
    out.print(table)
    important = client.sweep_importances(held.id)
    for each in important.items:
        print_line(f"importance {each.importance:.2f}  {escape(each.path)} [dim]({important.method})[/]")


def _merit(one: SweepTrial) -> tuple[int, float]:
    return one.rungs[-1].rung if one.rungs else -1, float("-inf") if one.value is None else one.value


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else escape(str(value))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _say(told: Sweep, as_json: bool, words: str) -> None:
    if as_json:
        print_json(told.model_dump(mode="json"))
    else:
        print_line(f"{escape(told.label)} is {status_text(told.status)}. {words}")
