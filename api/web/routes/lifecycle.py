"""A trial's life: paused, resumed, stopped, forked, put away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Response
from starlette.concurrency import run_in_threadpool
from temporalio.service import RPCError

from api.schemas.enums import TrialStatus
from api.schemas.trials import Fork, Stop, Trial, TrialSummary
from api.store.core.engine import Session
from api.store.forks.fork import fork_trial
from api.store.trials.archive import archive_trial
from api.store.trials.reads import get_trial
from api.store.trials.status import stop_pending_trial, was_carried_out
from api.web.auth.scopes import Operator
from api.web.changes import Answer, Audited, Change, ChangeCall
from api.web.problems import Refusal, problems_at
from api.web.responses.etags import IfMatch, etag, require_match
from api.web.responses.paging import EntityId
from api.web.responses.serialization import ReadyRoute
from api.web.routes.trials import summary_of, trial_of
from api.web.services import Services
from api.web.temporal.updates import order_trial
from orchestrator.contracts.workflows import Mode, Status, StopOrder, trial_workflow_id

router = APIRouter(route_class=ReadyRoute, prefix="/api/v1/trials/{trial_id}", tags=["trials"])

ALLOWED: dict[str, tuple[TrialStatus, ...]] = {
    "pause": (TrialStatus.RUNNING,),
    "resume": (TrialStatus.PAUSED, TrialStatus.PAUSING),
    "stop": (TrialStatus.PENDING, TrialStatus.RUNNING, TrialStatus.PAUSING, TrialStatus.PAUSED, TrialStatus.STOPPING),
}
"""In which status an order makes sense; the workflow has the last word."""


@router.post("/pause", summary="Pause a trial", response_model=TrialSummary)
async def pause(trial_id: EntityId, principal: Operator, change: Change) -> Response:
    """Every player finishes its generation and then waits: the trial is `pausing`, then `paused`."""
    return await _order(change, str(trial_id), "pause")


@router.post("/resume", summary="Resume a trial", response_model=TrialSummary)
async def resume(trial_id: EntityId, principal: Operator, change: Change) -> Response:
    """Go on after a pause, or begin a trial that was made with `start: paused`."""
    return await _order(change, str(trial_id), "resume")


@router.post("/stop", summary="Stop a trial", response_model=TrialSummary)
async def stop(
    trial_id: EntityId,
    principal: Operator,
    change: Change,
    stop: Stop | None = None,
) -> Response:
    """End a trial for good, also one that has not begun. A second stop with `now` hurries one that is draining."""
    how = stop or Stop()
    message = StopOrder(mode=Mode(how.mode), reason=how.reason)
    services, once_id = change.services, change.once_id

    async def withdraw(refusal: Refusal) -> None:
        if not await run_in_threadpool(_withdraw, services, str(trial_id), how.reason, once_id):
            raise refusal
        await _tell(services, str(trial_id), how.reason)

    return await _order(change, str(trial_id), "stop", message, detail=how.model_dump(), otherwise=withdraw)


@router.post("/fork", summary="Fork a trial", status_code=201, response_model=Trial)
async def fork(trial_id: EntityId, new: Fork, principal: Operator, change: Change) -> Response:
    """A new trial of the same project that begins where this one stood after a commit; weights come by reference."""
    made: list[str] = []

    def work(session: Session) -> Answer:
        with problems_at("body.changes"):
            row = fork_trial(session, str(trial_id), name=new.name, at_commit=new.at_commit, changes=new.changes)
        session.flush()
        made.append(row.id)
        shown = trial_of(get_trial(session, row.id))
        return Answer(
            status=201,
            body=shown,
            headers={"Location": f"/api/v1/trials/{row.id}", **etag(shown.revision)},
            audited=Audited(
                action="trial.fork",
                target=f"trial/{row.id}",
                detail={"from": str(trial_id), "at_commit": shown.forked_at_commit, "changes": new.changes},
            ),
        )

    response = await change.commit(work)
    for fork_id in made:
        await change.services.starter.start(fork_id)
    return response


@router.post("/archive", summary="Put a trial away", response_model=TrialSummary)
async def archive(trial_id: EntityId, principal: Operator, change: Change, if_match: IfMatch = None) -> Response:
    """An ended trial leaves the lists; it can still be read and forked."""

    def work(session: Session) -> Answer:
        row = get_trial(session, str(trial_id))[0]
        require_match(if_match, row.revision)
        archive_trial(session, str(trial_id))
        session.flush()
        shown = summary_of(get_trial(session, str(trial_id)))
        return Answer(
            body=shown,
            headers=etag(shown.revision),
            audited=Audited(action="trial.archive", target=f"trial/{trial_id}"),
        )

    return await change.commit(work)


async def _order(
    change: ChangeCall,
    trial_id: str,
    order: str,
    *message: Any,
    detail: dict[str, Any] | None = None,
    otherwise: Callable[[Refusal], Awaitable[None]] | None = None,
) -> Response:
    """Have the trial's workflow take the order; `otherwise` is what to do where it does not."""

    def present() -> TrialSummary:
        with change.services.reads() as session:
            return summary_of(get_trial(session, trial_id))

    def check() -> None:
        status = present().status
        if status not in ALLOWED[order]:
            allowed = ", ".join(ALLOWED[order])
            raise Refusal(
                409,
                f"a trial that is {status} cannot take the order {order}; it must be one of: {allowed}",
                trial_status=status,
            )

    async def carry_out() -> Answer:
        try:
            await order_trial(change.services, trial_id, order, change.once_id, Status, *message)
        except Refusal as refusal:
            if otherwise is None:
                raise
            await otherwise(refusal)
        return await run_in_threadpool(answer)

    def answer() -> Answer:
        shown = present()
        return Answer(body=shown, headers=etag(shown.revision))

    def done_before() -> Answer | None:
        with change.services.reads() as session:
            carried_out = was_carried_out(session, trial_id, change.once_id)
        return answer() if carried_out else None

    audited = Audited(action=f"trial.{order}", target=f"trial/{trial_id}", detail=detail or {})
    return await change.order(audited, check, carry_out, done_before)


def _withdraw(services: Services, trial_id: str, reason: str, order: str) -> bool:
    with services.sessions.begin() as session:
        return stop_pending_trial(session, trial_id, reason, order=order)


async def _tell(services: Services, trial_id: str, reason: str) -> None:
    """Let the workflow know once a worker runs it; one that has not been started learns it from the row."""
    handle = services.temporal.get_workflow_handle(trial_workflow_id(trial_id))
    with suppress(RPCError, RuntimeError):
        await handle.signal("withdraw", reason)
