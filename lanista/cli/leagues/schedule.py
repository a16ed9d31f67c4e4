"""`lanista schedule`: recurring tournaments."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from api.schemas.enums import Overlap
from api.schemas.schedules import Schedule
from lanista.cli.connection import connected
from lanista.cli.leagues.tournament import (
    ChallengerOption,
    EntrantOption,
    FileOption,
    FormatOption,
    GameOption,
    GamesOption,
    ProjectOption,
    TrialOption,
    spec_from,
)
from lanista.cli.options import HomeOption, JsonOption, LimitOption
from lanista.cli.terminal import out, print_json, print_line, uncut_table
from lanista.client import Client
from lanista.client.errors import NoSuchName
from orchestrator.spec.values import is_id

schedule = typer.Typer(help="Schedules of tournaments: create, pause, resume, trigger, delete.", no_args_is_help=True)

ScheduleArgument = Annotated[
    str, typer.Argument(metavar="SCHEDULE", help="Its name, project/name, or its id.", show_default=False)
]


@schedule.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the schedule.", show_default=False)],
    file: FileOption = None,
    cron: Annotated[str | None, typer.Option(help="Cron line: minute hour day month weekday, as '0 3 * * *'.")] = None,
    every: Annotated[int | None, typer.Option(help="Interval in seconds, instead of a cron line.")] = None,
    time_zone: Annotated[str, typer.Option("--time-zone", help="Time zone of the cron line.")] = "UTC",
    overlap: Annotated[Overlap, typer.Option(help="What to do if the previous run has not ended.")] = Overlap.SKIP,
    catch_up: Annotated[int, typer.Option("--catch-up", help="Seconds that a missed run may start late.")] = 3600,
    project: ProjectOption = None,
    trial: TrialOption = None,
    game: GameOption = None,
    format: FormatOption = None,
    entrant: EntrantOption = None,
    challenger: ChallengerOption = None,
    games: GamesOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a schedule by cron line or interval; entrants are resolved at each run."""
    where, spec = spec_from(
        file,
        project=project,
        trial=trial,
        game=game,
        format=format,
        entrants=entrant,
        challengers=challenger,
        games=games,
    )
    with connected(home) as client:
        made = client.create_schedule(
            name=name,
            tournament=spec,
            project=where,
            cron=cron,
            every_seconds=every,
            time_zone=time_zone,
            overlap=overlap,
            catchup_window_seconds=catch_up,
        )
    _report(made, f"schedule {made.id}: {_when(made)}", as_json)


@schedule.command("list")
def list_all(
    project: ProjectOption = None, limit: LimitOption = 30, home: HomeOption = None, as_json: JsonOption = False
) -> None:
    """List schedules, newest first, with the last failure."""
    with connected(home) as client:
        found = list(islice(client.schedules(project=project, page_size=min(limit, 500)), limit))
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
        return
    table = uncut_table("project", "name", "when", "state", "last failure", "id")
    for one in found:
        state = f"paused ({one.pause_note or 'no note'})" if one.paused else "active"
        words = (one.project, one.name, _when(one), state, one.last_error or "", one.id)
        table.add_row(*(escape(word) for word in words))
    out.print(table)


@schedule.command()
def show(schedule: ScheduleArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show a schedule with its past and next runs."""
    with connected(home) as client:
        found = client.schedule(_id_of(client, schedule))
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    table = Table("field", "value", title=f"{escape(found.project)}/{escape(found.name)}", show_header=False)
    table.add_row("when", escape(_when(found)))
    for name in ("overlap", "paused", "pause_note", "last_error", "fired", "skipped_overlap", "missed_catchup"):
        value = getattr(found, name)
        table.add_row(name.replace("_", " "), "–" if value is None else escape(str(value)))
    for moment in found.next or []:
        table.add_row("next", f"{moment:%Y-%m-%d %H:%M:%S %Z}")
    out.print(table)


@schedule.command()
def pause(
    schedule: ScheduleArgument,
    note: Annotated[str | None, typer.Option(help="Reason, shown while it is paused.")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Pause a schedule; it can still be triggered."""
    with connected(home) as client:
        _report(client.change_schedule(_id_of(client, schedule), paused=True, pause_note=note), "Paused.", as_json)


@schedule.command()
def resume(schedule: ScheduleArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Resume a paused schedule."""
    with connected(home) as client:
        _report(client.change_schedule(_id_of(client, schedule), paused=False), "Resumed.", as_json)


@schedule.command()
def trigger(schedule: ScheduleArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Run a schedule's tournament now, in addition to its times."""
    with connected(home) as client:
        _report(
            client.trigger_schedule(_id_of(client, schedule)), "Triggered; `lanista tournament list` shows it.", as_json
        )


@schedule.command()
def delete(schedule: ScheduleArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Delete a schedule. Its tournaments stay; a running one continues."""
    with connected(home) as client:
        client.delete_schedule(_id_of(client, schedule))
    if as_json:
        print_json({"deleted": schedule})
    else:
        print_line("Deleted.")


def _report(schedule: Schedule, words: str, as_json: bool) -> None:
    if as_json:
        print_json(schedule.model_dump(mode="json"))
    else:
        print_line(escape(words))


def _id_of(client: Client, named: str) -> str:
    if is_id(named):
        return named
    project, _, name = named.rpartition("/")
    found = [one for one in client.schedules(project=project or None) if one.name == name]
    if not found:
        raise NoSuchName(f"there is no schedule {named!r}; `lanista schedule list` shows them")
    if len(found) > 1:
        names = ", ".join(f"{one.project}/{one.name}" for one in found)
        raise NoSuchName(f"{named!r} is ambiguous: {names}; `lanista schedule list` shows their ids")
    return found[0].id


def _when(found: Schedule) -> str:
    return f"every {found.every_seconds} s" if found.cron is None else f"{found.cron} {found.time_zone}"
