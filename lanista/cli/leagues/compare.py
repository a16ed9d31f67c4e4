"""`lanista compare`: several trials side by side."""

from __future__ import annotations

import csv
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from lanista.cli.connection import ExitCode, connected
from lanista.cli.options import HomeOption, JsonOption
from lanista.cli.terminal import errors, out, print_json, print_line, uncut_table
from lanista.client import Client

if TYPE_CHECKING:
    from api.schemas.compare import ComparedTrial, Comparison, RatedPoint

POLL_SECONDS = 0.5
SHOWN = ("return_mean", "win_rate", "loss", "entropy")
"""Metrics of the table, where the trials have them."""


def compare(
    trials: Annotated[list[str], typer.Argument(metavar="TRIAL...", help="Two or more trials, by name or id.")],
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", help="Only this metric's curve (repeatable).")
    ] = None,
    play: Annotated[
        int | None, typer.Option("--play", help="Play this many games between each two champions first.")
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Write the curves as CSV, one row for each value.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare trials: what differs in their files, their curves, and their champions against each other."""
    if len(trials) < 2:
        raise typer.BadParameter("give two or more trials")
    with connected(home) as client:
        found = [client.find_trial(each) for each in trials]
        if play is not None:
            _play(client, client.compare([each.id for each in found]), found[0].project, play)
        result = client.compare([each.id for each in found], metric=metric or ())
    if as_json:
        print_json(result.model_dump(mode="json"))
    elif as_csv:
        _write_csv(result)
    else:
        _show(result)


def _play(client: Client, result: Comparison, project: str, games: int) -> None:
    """A round robin between the champions, in the project of the first trial; waits for its end."""
    entrants = [f"version:{each.champion_version_id}" for each in result.trials if each.champion_version_id]
    shared = {each.label.split("/")[0] for each in result.trials}
    if len(set(entrants)) < 2 or shared != {project}:
        errors.print("[red]--play needs two champions of one project.[/]")
        raise typer.Exit(ExitCode.REFUSED)
    trial = result.trials[0].label.partition("/")[2]
    spec = {"trial": trial, "name": "compare", "entrants": entrants, "games": games}
    held = client.create_tournament(project=project, spec=spec)
    while held.finished_at is None:
        time.sleep(POLL_SECONDS)
        held = client.tournament(held.id)
    if held.status != "completed":
        errors.print(f"[red]The tournament is {held.status}:[/] {escape(held.status_reason or '')}", soft_wrap=True)
        raise typer.Exit(ExitCode.FAILED)


def _write_csv(result: Comparison) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow(["trial", "player", "metric", "generation", "steps", "value"])
    for trial in result.trials:
        for series in trial.curves:
            for row in series.rows():
                writer.writerow(
                    [trial.label, row["player"], row["name"], row["generation"], row["steps"], row["value"]]
                )
        for point in trial.ratings:
            writer.writerow([trial.label, point.label, "rating", "", point.steps, point.value])


def _show(result: Comparison) -> None:
    labels = [each.label for each in result.trials]
    table = uncut_table("", *map(escape, labels))
    table.add_row("status", *(each.status for each in result.trials))
    table.add_row("steps", *(f"{each.steps:,}" for each in result.trials))
    table.add_row("plays for it", *map(_representative, result.trials))
    if any(each.ratings for each in result.trials):
        table.add_row("rating (Elo)", *(_rating(each.ratings) for each in result.trials))
    names = dict.fromkeys(series.name for each in result.trials for series in each.curves)
    for name in [name for name in names if name in SHOWN] or list(names)[:10]:
        table.add_row(name, *(_newest(each.curves, name) for each in result.trials))
    for difference in result.differences:
        table.add_row(escape(difference.path), *(escape(str(value)) for value in difference.values))
    out.print(table)
    by_id = {each.id: each.label for each in result.trials}
    for met in result.head_to_head:
        score = f"+{met.wins} ={met.draws} -{met.losses}"
        print_line(f"{escape(by_id[met.first])} against {escape(by_id[met.second])}: {score}")
    if not result.head_to_head:
        print_line("[dim]Their champions have not met in rating games; --play 200 lets them play.[/]")


def _representative(trial: ComparedTrial) -> str:
    """The trial's own version that is compared, and what it is: the champion of a project may be another trial's."""
    if trial.champion is None:
        return ""
    standing = {"champion": "champion now", "former": "its last champion", "newest": "its newest version"}
    text = f"{trial.champion} ({standing.get(trial.champion_is or '', 'its own')})"
    if trial.shared_champion is not None and trial.shared_champion_trial_id != trial.id:
        text += f"; champion: {trial.shared_champion} of {trial.shared_champion_trial}"
    return escape(text)


def _rating(points: list[RatedPoint]) -> str:
    """The newest rating, with half its 95 % interval."""
    if not points:
        return ""
    newest = points[-1]
    return f"{newest.value:.0f}" if newest.high is None else f"{newest.value:.0f} ± {newest.high - newest.value:.0f}"


def _newest(curves: list[Any], name: str) -> str:
    value = next((series.values[-1] for series in curves if series.name == name and series.values), None)
    return "" if value is None else f"{value:.4g}"
