"""Promotion gates: a candidate against the champion, by sequential test."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from starlette.concurrency import run_in_threadpool
from temporalio.service import RPCError, RPCStatusCode

from api.schemas.base import Page
from api.schemas.enums import GateStatus
from api.schemas.gates import Gate, GateSummary, PathPoint, StopGate
from api.store.gates.reads import gate_path, get_gate, list_gates
from api.store.gates.results import stop_waiting_gate
from api.store.trials.reads import require_trial
from api.web.auth.scopes import Operator, Viewer
from api.web.changes import Answer, Audited, Change
from api.web.problems import Refusal
from api.web.responses.paging import EntityId, IdCursor, Limit, page_of, text_of
from api.web.responses.serialization import ReadyRoute, record_response, shaped
from api.web.services import Api, Services
from api.web.temporal.unavailable import unreachable
from orchestrator.contracts.workflows import gate_workflow_id

router = APIRouter(route_class=ReadyRoute, prefix="/api/v1", tags=["gates"])


@router.get("/trials/{trial_id}/gates", summary="List gates")
def gates(
    trial_id: EntityId,
    services: Api,
    principal: Viewer,
    status: Annotated[list[GateStatus] | None, Query(description="only with one of these statuses")] = None,
    limit: Limit = 50,
    cursor: IdCursor = None,
) -> Page[GateSummary]:
    """Gates of the trial's candidates, the newest first."""
    with services.reads() as session:
        require_trial(session, str(trial_id))
        rows = list_gates(session, str(trial_id), before=text_of(cursor), limit=limit + 1, statuses=status or ())
        return page_of(rows, limit, GateSummary.model_validate, lambda gate: gate.id)


@router.get("/gates/{gate_id}", summary="One gate and the path of its test", response_model=Gate)
def get_one(gate_id: EntityId, services: Api, principal: Viewer) -> Response:
    """The gate with its log-likelihood ratio after each batch."""
    with services.reads() as session:
        summary = GateSummary.model_validate(get_gate(session, str(gate_id)))
        path = gate_path(session, str(gate_id))
    return record_response(summary.model_dump(mode="json"), path=[shaped(batch, PathPoint) for batch in path])


@router.post("/gates/{gate_id}/stop", summary="Stop a gate early", response_model=Gate)
async def stop(
    gate_id: EntityId,
    principal: Operator,
    change: Change,
    stop: StopGate | None = None,
) -> Response:
    """End a gate without a verdict: it becomes `invalid`, within seconds, and never `passed`."""
    services = change.services
    reason = (stop or StopGate()).reason

    def check() -> None:
        gate = _read(services, str(gate_id))
        if gate.status not in (GateStatus.RUNNING, GateStatus.WAITING):
            raise Refusal(409, f"the gate is over: {gate.status}", gate_status=gate.status)

    def done_before() -> Answer | None:
        gate = _read(services, str(gate_id))
        stopped = gate.status is GateStatus.INVALID and gate.status_reason == reason
        return Answer(body=gate) if stopped else None

    async def carry_out() -> Answer:
        # one that waits has no workflow yet; nothing plays, and the next candidate is free to wait in its place
        if await run_in_threadpool(_stop_waiting, services, str(gate_id), reason):
            return Answer(body=await run_in_threadpool(_read, services, str(gate_id)))
        handle = services.temporal.get_workflow_handle(gate_workflow_id(str(gate_id)))
        try:
            await handle.signal("stop", reason)
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                raise Refusal(409, "the gate does not play: its workflow does not run") from None
            raise unreachable(error) from None
        except RuntimeError as error:  # how the SDK says it cannot connect
            raise unreachable(error) from None
        return Answer(body=await run_in_threadpool(_read, services, str(gate_id)))

    audited = Audited(action="gate.stop", target=f"gate/{gate_id}", detail={"reason": reason})
    return await change.order(audited, check, carry_out, done_before)


def _stop_waiting(services: Services, gate_id: str, reason: str) -> bool:
    with services.sessions.begin() as session:
        return stop_waiting_gate(session, gate_id, reason)


def _read(services: Services, gate_id: str) -> Gate:
    with services.reads() as session:
        row = get_gate(session, gate_id)
        summary = GateSummary.model_validate(row)
        path = [PathPoint.model_validate(batch) for batch in gate_path(session, gate_id)]
    return Gate(**summary.model_dump(), path=path)
