"""The order to stop a gate early."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool

from api.schemas.enums import GateStatus
from api.schemas.gates import Gate
from api.store.gates.reads import read_gate
from api.store.gates.results import stop_waiting_gate
from api.web.changes import AuditLine, ChangeCall, Reply
from api.web.orders.order import Order
from api.web.problems import ProblemError
from api.web.temporal.messages import signal_workflow
from orchestrator.contracts.workflows import gate_workflow_id


class StopGateEarly(Order):
    """Ends a gate without a verdict."""

    def __init__(self, change: ChangeCall, gate_id: str, reason: str) -> None:
        super().__init__(change)
        self.gate_id = gate_id
        self.reason = reason

    def audit_line(self) -> AuditLine:
        return AuditLine(action="gate.stop", target=f"gate/{self.gate_id}", detail={"reason": self.reason})

    def check(self) -> None:
        gate = self._read()
        if gate.status not in (GateStatus.RUNNING, GateStatus.WAITING):
            raise ProblemError(409, f"the gate is {gate.status} and has ended", gate_status=gate.status)

    async def send(self) -> Reply:
        # a waiting gate has no workflow: it ends in its row, and the next candidate may wait in its place
        if not await run_in_threadpool(self._stop_waiting):
            await signal_workflow(
                self.services.temporal,
                gate_workflow_id(self.gate_id),
                "stop",
                self.reason,
                not_running="the gate's workflow does not run",
            )
        return Reply(body=await run_in_threadpool(self._read))

    def find_effect(self) -> Reply | None:
        gate = self._read()
        stopped = gate.status is GateStatus.INVALID and gate.status_reason == self.reason
        return Reply(body=gate) if stopped else None

    def _stop_waiting(self) -> bool:
        with self.services.sessions.begin() as session:
            return stop_waiting_gate(session, self.gate_id, self.reason)

    def _read(self) -> Gate:
        with self.services.reads() as session:
            return Gate.model_validate(read_gate(session, self.gate_id))
