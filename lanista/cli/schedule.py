"""`lanista schedule`: tournaments again and again."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from lanista.cli.connection import HomeOption, LimitOption, connected
from lanista.cli.stack import JsonOption
from lanista.cli.terminal import out, print_json, print_line
from lanista.cli.tournament import (
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
from lanista.client.calls import tournaments as calls

schedule = typer.Typer(help="Schedules of tournaments: create, pause, resume, trigger, delete.", no_args_is_help=True)

IdArgument = Annotated[str, typer.Argument(metavar="SCHEDULE", help="Its id.", show_default=False)]


@schedule.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it.", show_default=False)],
    file: FileOption = None,
    cron: Annotated[str | None, typer.Option(help="When: minute hour day month weekday, as '0 3 * * *'.")] = None,
    every: Annotated[int | None, typer.Option(help="Or an interval, in seconds.")] = None,
    time_zone: Annotated[str, typer.Option("--time-zone", help="What the cron line means.")] = "UTC",
    overlap: Annotated[
        str,
        typer.Option(
            help="While the last one runs: skip, buffer_one, buffer_all, cancel_other, terminate_other, allow_all."
        ),
    ] = "skip",
    catch_up: Annotated[int, typer.Option("--catch-up", help="Seconds a missed firing is made up for.")] = 3600,
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
    """Hold a tournament by cron line or interval; its field is found anew each time."""
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
    body = {
        "project": where,
        "name": name,
        "cron": cron,
        "every_seconds": every,
        "time_zone": time_zone,
        "overlap": overlap,
        "catchup_window_seconds": catch_up,
        "tournament": spec,
    }
    with connected(home) as client:
        made = client.send(calls.create_schedule(body))
    if as_json:
        print_json(made)
    else:
        print_line(f"schedule {made['id']}: {escape(_when(made))}")


@schedule.command("list")
def list_all(
    project: ProjectOption = None, limit: LimitOption = 30, home: HomeOption = None, as_json: JsonOption = False
) -> None:
    """List schedules, the newest first, with the failure of the last tournament."""
    with connected(home) as client:
        found = client.send(calls.schedules(min(limit, 500), project=project))["items"]
    if as_json:
        print_json(found)
        return
    table = Table("project", "name", "when", "state", "last failure", "id")
    for one in found:
        state = f"paused ({escape(one['pause_note'] or '')})" if one["paused"] else "active"
        failure = escape(one["last_error"] or "")
        table.add_row(escape(one["project"]), escape(one["name"]), _when(one), state, failure, one["id"])
    out.print(table)


@schedule.command()
def show(schedule: IdArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show a schedule with its past and next firings."""
    with connected(home) as client:
        found = client.send(calls.schedule(schedule))
    if as_json:
        print_json(found)
        return
    table = Table("what", "is", title=f"{escape(found['project'])}/{escape(found['name'])}", show_header=False)
    table.add_row("when", escape(_when(found)))
    for name in ("overlap", "paused", "pause_note", "last_error", "fired", "skipped_overlap", "missed_catchup"):
        table.add_row(name.replace("_", " "), escape(str(found[name])))
    for moment in found["next"] or []:
        table.add_row("next", moment)
    out.print(table)


@schedule.command()
def pause(
    schedule: IdArgument,
    note: Annotated[str | None, typer.Option(help="Why.")] = None,
    home: HomeOption = None,
) -> None:
    """Stop firing until resumed; it can still be triggered."""
    with connected(home) as client:
        client.send(calls.change_schedule(schedule, {"paused": True, "pause_note": note}))
    print_line("Paused.")


@schedule.command()
def resume(schedule: IdArgument, home: HomeOption = None) -> None:
    """Fire again at its usual times."""
    with connected(home) as client:
        client.send(calls.change_schedule(schedule, {"paused": False}))
    print_line("Resumed.")


@schedule.command()
def trigger(schedule: IdArgument, home: HomeOption = None) -> None:
    """Hold its tournament now, besides its usual times."""
    with connected(home) as client:
        client.send(calls.trigger_schedule(schedule))
    print_line("Triggered; `lanista tournament list` shows it.")


@schedule.command()
def delete(schedule: IdArgument, home: HomeOption = None) -> None:
    """End a schedule. Its tournaments stay, one under way goes on."""
    with connected(home) as client:
        client.send(calls.delete_schedule(schedule))
    print_line("Deleted.")


def _when(found: dict[str, Any]) -> str:
    if found["cron"] is None:
        return f"every {found['every_seconds']} s"
    return f"{found['cron']} {found['time_zone']}"
