"""The order to fire a schedule now."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from temporalio.service import RPCError

from api.schemas.enums import Overlap
from api.schemas.schedules import Schedule
from api.store.tournaments.code_of_tournaments import code_of_schedule
from api.store.tournaments.firings import firing_has_tournament, unfinished_tournament
from api.store.tournaments.reads import read_schedule
from api.web.auth.code_scope import require_code
from api.web.changes import AuditLine, ChangeCall, Reply
from api.web.orders.order import Order
from api.web.problems import ProblemError
from api.web.temporal.unavailable import unreachable
from orchestrator.contracts.tournaments import firing_id


class TriggerSchedule(Order):
    """Runs the schedule's tournament now. The firing time is when the key was reserved: the same for all retries."""

    def __init__(self, change: ChangeCall, schedule_id: str) -> None:
        super().__init__(change)
        self.schedule_id = schedule_id

    def audit_line(self) -> AuditLine:
        return AuditLine(action="schedule.trigger", target=f"schedule/{self.schedule_id}")

    def check(self) -> None:
        schedule = self._read()
        with self.services.reads() as session:
            require_code(self.change.principal, code_of_schedule(session, self.schedule_id), "tournament")
            running = unfinished_tournament(session, self.schedule_id)
        if running is not None and schedule.overlap is Overlap.SKIP:
            raise ProblemError(
                409, f"tournament {running} of this schedule still runs, and the schedule's overlap is skip"
            )

    async def send(self) -> Reply:
        schedule = await run_in_threadpool(self._read)
        schedules = self.services.schedules
        if not schedule.taken:
            await schedules.apply(self.schedule_id)
        try:
            await schedules.fire(self.schedule_id, await run_in_threadpool(self.change.reserved_at))
        except (RPCError, RuntimeError) as error:  # the SDK raises RuntimeError where it cannot connect
            raise unreachable(error) from None
        return Reply(body=schedule, status=202)

    def find_effect(self) -> Reply | None:
        moment = self.change.reserved_at()
        if moment is None:
            return None
        with self.services.reads() as session:
            held = firing_has_tournament(session, firing_id(self.schedule_id, moment))
        return Reply(body=self._read(), status=202) if held else None

    def _read(self) -> Schedule:
        with self.services.reads() as session:
            return Schedule.model_validate(read_schedule(session, self.schedule_id))
