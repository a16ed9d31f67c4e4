"""Probes: create, list, get, stop."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Body, Query
from fastapi.responses import Response

from api.schemas.base import Page
from api.schemas.creation import NewProbe
from api.schemas.enums import ProbeStatus
from api.schemas.probes import Probe, StopProbe
from api.store.core.engine import Session
from api.store.core.errors import Conflict
from api.store.probes.advance import stop_probe
from api.store.probes.create import probe_mixture, probe_version
from api.store.probes.reads import ProbeFilter, list_probes, read_probe
from api.store.tables import Trial
from api.store.trials.spec import spec_of
from api.web.auth.code_scope import require_code
from api.web.auth.scopes import Operator, Viewer
from api.web.changes import AuditLine, Change, Reply
from api.web.responses.paging import EntityId, IdCursor, Limit, text_of
from api.web.responses.serialization import SerializingRoute
from api.web.services import Api
from orchestrator.spec.code_names import code_in_trial

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/probes", tags=["probes"])


@router.post("", summary="Probe a version or a mixture", status_code=201, response_model=Probe)
async def create(new: NewProbe, principal: Operator, change: Change) -> Response:
    """Fix the target and start the probe, which creates a trial for each responder."""
    made: list[str] = []

    def work(session: Session) -> Reply:
        if new.version_id is not None:
            row = probe_version(session, str(new.version_id), new.spec)
        else:
            row = probe_mixture(session, str(new.trial_id), new.spec)
        code = require_code(principal, code_in_trial(spec_of(session.get_one(Trial, row.trial_id))), "body")
        made.append(row.id)
        target = {"version_id": row.version_id, "trial_id": row.trial_id}
        return Reply(
            status=201,
            body=read_probe(session, row.id),
            headers={"Location": f"/api/v1/probes/{row.id}"},
            audit=AuditLine(
                action="probe.create",
                target=f"probe/{row.id}",
                detail={**target, **new.spec.to_json()} | ({"code": code} if code else {}),
            ),
        )

    response = await change.commit(work)
    for probe_id in made:
        await change.services.probe_starter.start(probe_id)
    return response


@router.get("", summary="List probes")
def list_all(
    services: Api,
    principal: Viewer,
    trial_id: Annotated[UUID | None, Query(description="only of versions and the mixture of this trial")] = None,
    version_id: Annotated[UUID | None, Query(description="only of this version")] = None,
    status: Annotated[list[ProbeStatus] | None, Query(description="only with one of these statuses")] = None,
    limit: Limit = 50,
    cursor: IdCursor = None,
) -> Page[Probe]:
    """Probes, the newest first."""
    which = ProbeFilter(trial_id=text_of(trial_id), version_id=text_of(version_id), statuses=tuple(status or ()))
    with services.snapshots() as session:
        found = list_probes(session, which, before=text_of(cursor), limit=limit + 1)
    more = len(found) > limit
    return Page(items=list(found[:limit]), next_cursor=found[limit - 1].id if more else None)


@router.get("/{probe_id}", summary="Get a probe")
def get_one(probe_id: EntityId, services: Api, principal: Viewer) -> Probe:
    """The probe with its responders' trials and, once it is completed, what each of them reached."""
    with services.snapshots() as session:
        return read_probe(session, str(probe_id))


@router.post("/{probe_id}/stop", summary="Stop a probe", response_model=Probe)
async def stop(
    probe_id: EntityId, principal: Operator, change: Change, stop: Annotated[StopProbe | None, Body()] = None
) -> Response:
    """Stop its trials and its games within seconds. The probe becomes `stopped`, without a result."""
    order = stop or StopProbe()

    def work(session: Session) -> Reply:
        row = stop_probe(session, str(probe_id), order.reason)
        if row.status.is_final:
            raise Conflict(f"the probe is {row.status}")
        audit = AuditLine(action="probe.stop", target=f"probe/{row.id}", detail={"reason": order.reason})
        return Reply(body=read_probe(session, row.id), audit=audit)

    return await change.commit(work)
