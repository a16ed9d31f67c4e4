"""Promotion gates: a candidate against the champion, by a sequential probability ratio test."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from api.schemas.base import Page
from api.schemas.enums import GateStatus
from api.schemas.gates import Gate, GateSummary, StopGate
from api.store.gates.reads import list_gates, read_gate
from api.store.trials.reads import require_trial
from api.web.auth.scopes import Operator, Viewer
from api.web.changes import Change
from api.web.orders.gates import StopGateEarly
from api.web.responses.paging import EntityId, IdCursor, Limit, text_of
from api.web.responses.serialization import SerializingRoute, record_response, records_page
from api.web.services import Api

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1", tags=["gates"])


@router.get("/trials/{trial_id}/gates", summary="List gates", response_model=Page[GateSummary])
def gates(
    trial_id: EntityId,
    services: Api,
    principal: Viewer,
    status: Annotated[list[GateStatus] | None, Query(description="only with one of these statuses")] = None,
    limit: Limit = 50,
    cursor: IdCursor = None,
) -> Response:
    """Gates of the trial's candidates, the newest first."""
    with services.reads() as session:
        require_trial(session, str(trial_id))
        rows = list_gates(session, str(trial_id), before=text_of(cursor), limit=limit + 1, statuses=status or ())
    return records_page(rows, limit, GateSummary)


@router.get("/gates/{gate_id}", summary="Get a gate and the path of its test", response_model=Gate)
def get_one(gate_id: EntityId, services: Api, principal: Viewer) -> Response:
    """The gate with its log-likelihood ratio after each batch."""
    with services.reads() as session:
        record = read_gate(session, str(gate_id))
    return record_response(record, Gate)


@router.post("/gates/{gate_id}/stop", summary="Stop a gate early", response_model=Gate)
async def stop(
    gate_id: EntityId,
    principal: Operator,
    change: Change,
    stop: StopGate | None = None,
) -> Response:
    """End a gate without a verdict: it becomes `invalid`, within seconds, and never `passed`."""
    return await StopGateEarly(change, str(gate_id), (stop or StopGate()).reason).carry_out()
