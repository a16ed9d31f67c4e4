"""Calls about tournaments and schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from api.schemas.enums import Overlap
from lanista.client.calls.call import LARGEST_PAGE, Call, Listing, Steps, TrialRef, change, drop_none, get, path_to

if TYPE_CHECKING:
    from api.schemas.reports import TournamentReport
    from api.schemas.schedules import Schedule
    from api.schemas.tournaments import Entrant, Pairing, Standings, Tournament


def tournaments(
    *,
    project: str | None = None,
    trial: TrialRef | None = None,
    schedule_id: str | None = None,
    status: Sequence[str] = (),
    purpose: Sequence[str] = (),
    page_size: int = 100,
) -> Listing[Tournament]:
    """Tournaments, the newest first."""
    from api.schemas.tournaments import Tournament

    trial_id = trial if trial is None or isinstance(trial, str) else trial.id
    chosen = {"status": list(status) or None, "purpose": list(purpose) or None}
    query = drop_none({"project": project, "trial_id": trial_id, "schedule_id": schedule_id, **chosen})
    return Listing(path=path_to("tournaments"), item=Tournament, query=query, page_size=page_size)


def tournament(tournament_id: str) -> Call[Tournament]:
    """One tournament."""
    from api.schemas.tournaments import Tournament

    return get(path_to("tournaments", tournament_id), Tournament)


def create_tournament(*, spec: Mapping[str, Any], project: str = "default") -> Call[Tournament]:
    """Create a tournament. `spec` is a tournament file without `project`."""
    from api.schemas.tournaments import Tournament

    return change("POST", path_to("tournaments"), Tournament, {"project": project, "spec": dict(spec)})


def cancel_tournament(tournament_id: str, *, reason: str | None = None) -> Call[Tournament]:
    """Cancel a tournament; recorded games stay."""
    from api.schemas.tournaments import Tournament

    return change("POST", path_to("tournaments", tournament_id, "cancel"), Tournament, {"reason": reason})


def entrants(tournament_id: str, *, page_size: int = 100) -> Listing[Entrant]:
    """The entrants, by seeding."""
    from api.schemas.tournaments import Entrant

    return Listing(path=path_to("tournaments", tournament_id, "entrants"), item=Entrant, page_size=page_size)


def standings(tournament_id: str) -> Steps[Standings]:
    """The present standings, the best first."""
    from api.schemas.tournaments import Standings

    path = path_to("tournaments", tournament_id, "standings")
    found: Standings = yield get(path, Standings, {"limit": LARGEST_PAGE})
    while found.next_cursor is not None:
        page: Standings = yield get(path, Standings, {"limit": LARGEST_PAGE, "cursor": found.next_cursor})
        found = page.model_copy(update={"items": [*found.items, *page.items]})
    return found


def pairings(tournament_id: str, *, page_size: int = 100) -> Listing[Pairing]:
    """The pairings and their results."""
    from api.schemas.tournaments import Pairing

    return Listing(path=path_to("tournaments", tournament_id, "pairings"), item=Pairing, page_size=page_size)


def tournament_report(tournament_id: str) -> Call[TournamentReport]:
    """The whole report: standings, cross table, upsets, instructive games."""
    from api.schemas.reports import TournamentReport

    return get(path_to("tournaments", tournament_id, "report"), TournamentReport, {"format": "json"})


def write_report(tournament_id: str, form: Literal["csv", "markdown", "html"]) -> Call[str]:
    """The report as text."""
    return Call(
        method="GET",
        path=path_to("tournaments", tournament_id, "report"),
        query={"format": form},
        read=lambda response: response.text,
    )


def schedules(*, project: str | None = None, page_size: int = 100) -> Listing[Schedule]:
    """Schedules, the newest first."""
    from api.schemas.schedules import Schedule

    return Listing(path=path_to("schedules"), item=Schedule, query=drop_none({"project": project}), page_size=page_size)


def schedule(schedule_id: str) -> Call[Schedule]:
    """One schedule with its past and next firings."""
    from api.schemas.schedules import Schedule

    return get(path_to("schedules", schedule_id), Schedule)


def create_schedule(
    *,
    name: str,
    tournament: Mapping[str, Any],
    project: str = "default",
    cron: str | None = None,
    every_seconds: int | None = None,
    time_zone: str | None = None,
    overlap: Overlap | str | None = None,
    catchup_window_seconds: int | None = None,
) -> Call[Schedule]:
    """Run a tournament repeatedly, by a cron line or an interval."""
    from api.schemas.schedules import Schedule

    body = {
        "project": project,
        "name": name,
        "cron": cron,
        "every_seconds": every_seconds,
        "time_zone": time_zone,
        "overlap": overlap,
        "catchup_window_seconds": catchup_window_seconds,
        "tournament": dict(tournament),
    }
    return change("POST", path_to("schedules"), Schedule, body)


def change_schedule(
    schedule_id: str,
    *,
    paused: bool | None = None,
    pause_note: str | None = None,
    overlap: Overlap | str | None = None,
    catchup_window_seconds: int | None = None,
    if_revision: int | None = None,
) -> Call[Schedule]:
    """Pause, resume or change a schedule."""
    from api.schemas.schedules import Schedule

    body = {
        "paused": paused,
        "pause_note": pause_note,
        "overlap": overlap,
        "catchup_window_seconds": catchup_window_seconds,
    }
    return change("PATCH", path_to("schedules", schedule_id), Schedule, body, if_revision=if_revision)


def trigger_schedule(schedule_id: str) -> Call[Schedule]:
    """Run a schedule's tournament now."""
    from api.schemas.schedules import Schedule

    return change("POST", path_to("schedules", schedule_id, "trigger"), Schedule)


def delete_schedule(schedule_id: str) -> Call[None]:
    """Delete a schedule; its tournaments stay."""
    return Call(method="DELETE", path=path_to("schedules", schedule_id), read=lambda response: None)
