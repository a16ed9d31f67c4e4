"""Orders to a trial: pause, resume, stop."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

from starlette.concurrency import run_in_threadpool
from temporalio.service import RPCError

from api.schemas.enums import TrialStatus
from api.schemas.trials import Stop, TrialSummary
from api.store.trials.code_of_trials import code_of_trial
from api.store.trials.reads import get_trial, read_trial
from api.store.trials.status import stop_pending_trial, was_carried_out
from api.web.auth.code_scope import require_code
from api.web.changes import AuditLine, ChangeCall, Reply
from api.web.orders.order import Order
from api.web.problems import ProblemError
from api.web.responses.etags import etag
from api.web.temporal.messages import update_trial
from orchestrator.contracts.workflows import Mode, Status, StopOrder, trial_workflow_id


class TrialOrder(Order):
    """An update of the trial's workflow, allowed in some statuses; the workflow makes the final check."""

    update: ClassVar[str]
    allowed: ClassVar[tuple[TrialStatus, ...]]

    def __init__(self, change: ChangeCall, trial_id: str) -> None:
        super().__init__(change)
        self.trial_id = trial_id

    def audit_line(self) -> AuditLine:
        return AuditLine(action=f"trial.{self.update}", target=f"trial/{self.trial_id}", detail=self.audit_detail())

    def audit_detail(self) -> dict[str, Any]:
        return {}

    def message(self) -> tuple[Any, ...]:
        """The arguments of the update."""
        return ()

    def check(self) -> None:
        status = self._read().status
        if status not in self.allowed:
            raise ProblemError(
                409,
                f"the trial is {status}; {self.update} is possible while it is {', '.join(self.allowed)}",
                trial_status=status,
            )

    async def send(self) -> Reply:
        await update_trial(self.services, self.trial_id, self.update, self.change.operation_id, Status, *self.message())
        return await run_in_threadpool(self._reply)

    def find_effect(self) -> Reply | None:
        with self.services.reads() as session:
            carried_out = was_carried_out(session, self.trial_id, self.change.operation_id)
        return self._reply() if carried_out else None

    def _reply(self) -> Reply:
        trial = self._read()
        return Reply(body=trial, headers=etag(trial.revision))

    def _read(self) -> TrialSummary:
        with self.services.reads() as session:
            return TrialSummary.model_validate(read_trial(session, self.trial_id))


class PauseTrial(TrialOrder):
    """Every player finishes its generation and then waits."""

    update = "pause"
    allowed = (TrialStatus.RUNNING,)


class ResumeTrial(TrialOrder):
    """Players train again."""

    update = "resume"
    allowed = (TrialStatus.PAUSED, TrialStatus.PAUSING)

    def check(self) -> None:
        with self.services.reads() as session:
            named = code_of_trial(session, get_trial(session, self.trial_id))
        require_code(self.change.principal, named, "trial")
        super().check()


class StopTrial(TrialOrder):
    """Ends the trial for good. A pending trial is stopped in its row if no workflow takes the update."""

    update = "stop"
    allowed = (
        TrialStatus.PENDING,
        TrialStatus.RUNNING,
        TrialStatus.PAUSING,
        TrialStatus.PAUSED,
        TrialStatus.STOPPING,
    )

    def __init__(self, change: ChangeCall, trial_id: str, stop: Stop) -> None:
        super().__init__(change, trial_id)
        self.stop = stop

    def audit_detail(self) -> dict[str, Any]:
        return self.stop.model_dump()

    def message(self) -> tuple[Any, ...]:
        return (StopOrder(mode=Mode(self.stop.mode), reason=self.stop.reason),)

    async def send(self) -> Reply:
        try:
            return await super().send()
        except ProblemError:
            if not await run_in_threadpool(self._stop_pending):
                raise
        await self._signal_withdrawal()
        return await run_in_threadpool(self._reply)

    def _stop_pending(self) -> bool:
        with self.services.sessions.begin() as session:
            return stop_pending_trial(session, self.trial_id, self.stop.reason, order=self.change.operation_id)

    async def _signal_withdrawal(self) -> None:
        """Tell a workflow that no worker runs yet; one that was not started reads it from the row."""
        handle = self.services.temporal.get_workflow_handle(trial_workflow_id(self.trial_id))
        with suppress(RPCError, RuntimeError):
            await handle.signal("withdraw", self.stop.reason)
