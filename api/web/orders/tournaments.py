"""The order to end a tournament early."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool

from api.schemas.enums import TournamentStatus
from api.schemas.tournaments import Tournament
from api.store.tournaments.lifecycle import FINAL
from api.store.tournaments.reads import get_tournament, read_tournament
from api.web.changes import AuditLine, ChangeCall, Reply
from api.web.orders.order import Order
from api.web.problems import ProblemError
from api.web.temporal.messages import signal_workflow
from api.web.temporal.start_workflows import workflow_id_of


class CancelTournament(Order):
    """Ends a tournament. Recorded games stay and count; games in progress are discarded."""

    def __init__(self, change: ChangeCall, tournament_id: str, reason: str) -> None:
        super().__init__(change)
        self.tournament_id = tournament_id
        self.reason = reason

    def audit_line(self) -> AuditLine:
        target, detail = f"tournament/{self.tournament_id}", {"reason": self.reason}
        return AuditLine(action="tournament.cancel", target=target, detail=detail)

    def check(self) -> None:
        status = self._read()[0].status
        if status in FINAL:
            raise ProblemError(409, f"the tournament is {status} and has ended", tournament_status=status)

    async def send(self) -> Reply:
        _, workflow_id = await run_in_threadpool(self._read)
        await signal_workflow(
            self.services.temporal,
            workflow_id,
            "cancel",
            self.reason,
            not_running="the tournament's workflow has ended or was not started yet; try again in a moment",
        )
        tournament, _ = await run_in_threadpool(self._read)
        return Reply(body=tournament, status=202)

    def find_effect(self) -> Reply | None:
        tournament, _ = self._read()
        cancelled = tournament.status is TournamentStatus.CANCELLED and tournament.status_reason == self.reason
        return Reply(body=tournament, status=202) if cancelled else None

    def _read(self) -> tuple[Tournament, str]:
        """The tournament, and the id of its workflow."""
        with self.services.reads() as session:
            tournament = Tournament.model_validate(read_tournament(session, self.tournament_id))
            row, *_ = get_tournament(session, self.tournament_id)
            return tournament, workflow_id_of(row)
