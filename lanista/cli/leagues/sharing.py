"""`lanista queue`, `lanista project` and `lanista trial priority`: how trials share crews."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from lanista.cli.connection import TrialArgument, connected
from lanista.cli.options import HomeOption, JsonOption
from lanista.cli.terminal import out, print_json, print_line, uncut_table

if TYPE_CHECKING:
    from api.schemas.installation.crew_queue import TrialInQueue

project = typer.Typer(help="Projects: list them, change their share of the crews.", no_args_is_help=True)

PriorityOption = Annotated[
    float | None, typer.Option(min=0.001, max=1000, help="Its weight where crews are scarce.", show_default=False)
]
QuotaOption = Annotated[
    int | None,
    typer.Option(min=0, max=100_000, help="Most generations under way at once; 0: no limit.", show_default=False),
]


def queue(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show who waits for whom: the trials that share crews, their shares, what waits, since when and behind whom."""
    with connected(home) as client:
        found = client.crew_queue()
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    if not found.trials:
        print_line("No trial trains now.")
        return
    table = uncut_table("trial", "priority", "share", "quota", "training", "waiting", "behind", "for")
    for each in found.trials:
        table.add_row(*(escape(word) for word in _row(each)))
    out.print(table)
    if found.not_asked:
        print_line(f"{found.not_asked:,} more learning players were not asked.")


def _row(trial: TrialInQueue) -> tuple[str, ...]:
    quota = trial.quota if trial.quota is not None else trial.project_quota
    first = trial.waiting[0] if trial.waiting else None
    waited = "" if first is None else f", {(datetime.now(UTC) - first.since).total_seconds():.0f} s"
    return (
        f"{trial.project}/{trial.trial}",
        f"{trial.priority:g}" + (f" in {trial.project_priority:g}" if trial.project_priority != 1 else ""),
        f"{trial.share:.0%}",
        "" if quota is None else str(quota),
        f"{trial.training} of {trial.learners}",
        f"{len(trial.waiting)}{waited}",
        ", ".join(trial.behind[:3]) + (" and others" if len(trial.behind) > 3 else ""),
        "" if first is None else f"{first.player}: {first.reason}",
    )


def priority(
    trial: TrialArgument,
    priority: PriorityOption = None,
    quota: QuotaOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change a trial's priority and quota while it runs; without options, show them."""
    with connected(home) as client:
        found = client.find_trial(trial)
        if priority is not None or quota is not None:
            found = client.change_trial(found, priority=priority, quota=quota)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_line(f"{escape(found.label)}: {_share(found.priority, found.quota)}")


@project.command("list")
def list_all(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """List projects with their trials, priorities and quotas."""
    with connected(home) as client:
        found = list(client.projects())
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
        return
    table = uncut_table("project", "trials", "running", "priority", "quota")
    for one in found:
        table.add_row(escape(one.name), str(one.trials), str(one.running), f"{one.priority:g}", str(one.quota or ""))
    out.print(table)


@project.command()
def change(
    name: Annotated[str, typer.Argument(help="The project.")],
    priority: PriorityOption = None,
    quota: QuotaOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change a project's priority and quota. Needs an admin's token."""
    if priority is None and quota is None:
        raise typer.BadParameter("give --priority or --quota")
    with connected(home) as client:
        found = client.change_project(name, priority=priority, quota=quota)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_line(f"{escape(found.name)}: {_share(found.priority, found.quota)}")


def _share(priority: float, quota: int | None) -> str:
    return f"priority {priority:g}, {'no quota' if quota is None else f'quota of {quota} generations at once'}"
