"""Schedules of tournaments."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from starlette.concurrency import run_in_threadpool

from api.schemas.base import Page
from api.schemas.creation import NewSchedule
from api.schemas.schedules import Schedule, ScheduleChange
from api.store.core.engine import Session
from api.store.tournaments.code_of_tournaments import code_of_schedule
from api.store.tournaments.reads import list_schedules, read_schedule
from api.store.tournaments.schedules import (
    Timing,
    change_schedule,
    create_schedule,
    delete_schedule,
    lock_schedule,
)
from api.web.auth.code_scope import require_code
from api.web.auth.scopes import Operator, Viewer
from api.web.changes import AuditLine, Change, Reply
from api.web.orders.schedules import TriggerSchedule
from api.web.problems import ProblemError
from api.web.responses.etags import IfMatch, etag, require_match
from api.web.responses.paging import EntityId, IdCursor, Limit, text_of
from api.web.responses.serialization import SerializingRoute, records_page
from api.web.services import Api, Services
from orchestrator.spec.tournament import check_tournament

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/schedules", tags=["schedules"])


@router.post("", summary="Create a schedule", status_code=201, response_model=Schedule)
async def create(new: NewSchedule, principal: Operator, change: Change) -> Response:
    """Run a tournament repeatedly. Its entrants are chosen at each firing."""
    if (new.cron is None) == (new.every_seconds is None):
        raise ProblemError(422, "body: give either cron or every_seconds, not both or neither")
    spec = check_tournament(new.tournament.to_json())
    timing = Timing(
        cron=new.cron,
        every_seconds=new.every_seconds,
        time_zone=new.time_zone,
        overlap=new.overlap,
        catchup_window_seconds=new.catchup_window_seconds,
    )
    made: list[str] = []

    def work(session: Session) -> Reply:
        row = create_schedule(session, new.project, new.name, timing, spec)
        code = require_code(principal, code_of_schedule(session, row.id), "body.tournament")
        made.append(row.id)
        return Reply(
            status=201,
            body=Schedule.model_validate(read_schedule(session, row.id)),
            headers={"Location": f"/api/v1/schedules/{row.id}", **etag(row.revision)},
            audit=AuditLine(
                action="schedule.create",
                target=f"schedule/{row.id}",
                detail={"name": new.name} | ({"code": code} if code else {}),
            ),
        )

    response = await change.commit(work)
    for schedule_id in made:
        await change.services.schedules.apply(schedule_id)
    return response


@router.get("", summary="List schedules", response_model=Page[Schedule])
def list_all(
    services: Api,
    principal: Viewer,
    project: Annotated[
        str | None, Query(max_length=63, pattern=r"^[^\x00]*$", description="only of this project")
    ] = None,
    limit: Limit = 50,
    cursor: IdCursor = None,
) -> Response:
    """Schedules, the newest first, without their firings."""
    with services.reads() as session:
        rows = list_schedules(session, project=project, before=text_of(cursor), limit=limit + 1)
    return records_page(rows, limit, Schedule)


@router.get("/{schedule_id}", summary="Get a schedule")
async def get_one(schedule_id: EntityId, services: Api, principal: Viewer, response: Response) -> Schedule:
    """The schedule with its past and next firings."""
    shown = await run_in_threadpool(_present, services, str(schedule_id))
    response.headers.update(etag(shown.revision))
    return await _with_firings(services, shown)


@router.patch("/{schedule_id}", summary="Pause, resume or change a schedule", response_model=Schedule)
async def update(
    schedule_id: EntityId, changes: ScheduleChange, principal: Operator, change: Change, if_match: IfMatch = None
) -> Response:
    """A paused schedule fires only when it is triggered."""
    given = {name: value for name, value in changes.model_dump().items() if value is not None}

    def work(session: Session) -> Reply:
        require_match(if_match, lock_schedule(session, str(schedule_id)).revision)
        if changes.paused is False:
            require_code(principal, code_of_schedule(session, str(schedule_id)), "tournament")
        change_schedule(session, str(schedule_id), given)
        shown = Schedule.model_validate(read_schedule(session, str(schedule_id)))
        audit = AuditLine(action="schedule.change", target=f"schedule/{schedule_id}", detail=changes.model_dump())
        return Reply(body=shown, headers=etag(shown.revision), audit=audit)

    response = await change.commit(work)
    await change.services.schedules.apply(str(schedule_id))
    return response


@router.delete("/{schedule_id}", summary="Delete a schedule", status_code=204)
async def delete(schedule_id: EntityId, principal: Operator, change: Change) -> Response:
    """Its tournaments stay, and a running one continues."""

    def work(session: Session) -> Reply:
        delete_schedule(session, str(schedule_id))
        return Reply(status=204, audit=AuditLine(action="schedule.delete", target=f"schedule/{schedule_id}"))

    response = await change.commit(work)
    await change.services.schedules.apply(str(schedule_id))
    return response


@router.post("/{schedule_id}/trigger", summary="Fire a schedule now", status_code=202, response_model=Schedule)
async def trigger(schedule_id: EntityId, principal: Operator, change: Change) -> Response:
    """Run its tournament now, in addition to its usual times. 409 if one still runs and its overlap is `skip`."""
    return await TriggerSchedule(change, str(schedule_id)).carry_out()


async def _with_firings(services: Services, shown: Schedule) -> Schedule:
    firings = await services.schedules.firings(shown.id)
    if firings is None:
        return shown
    return shown.model_copy(
        update={
            "fired": firings.fired,
            "skipped_overlap": firings.skipped_overlap,
            "missed_catchup": firings.missed_catchup,
            "next": list(firings.next),
        }
    )


def _present(services: Services, schedule_id: str) -> Schedule:
    with services.reads() as session:
        return Schedule.model_validate(read_schedule(session, schedule_id))
