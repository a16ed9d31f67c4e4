"""One tournament: plan, play and record until nothing is left to play, then rate. Its whole state is in the store.

See docs/decisions/tournaments.md.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.errors import Failure
    from orchestrator.contracts.play import PlayOutcome, play_games
    from orchestrator.contracts.tournaments import (
        DamagedPairing,
        FailedPairing,
        Firing,
        PairingReport,
        PlannedPairing,
        ScheduleFailure,
        TournamentEnd,
        TournamentPlan,
        TournamentRequest,
        TournamentState,
        end_tournament,
        note_pairing_setback,
        note_schedule_failure,
        open_scheduled_tournament,
        plan_pairings,
        rate_tournament,
        record_pairing,
        withdraw_damaged,
    )
    from orchestrator.contracts.workflow_labels import summary_line
    from orchestrator.workflows.new_runs import new_run_is_due
    from orchestrator.workflows.own_labels import show_status
    from orchestrator.workflows.retries import (
        FAILURES_PER_RUN,
        FailedAttempt,
        RetriesExhausted,
        as_lost_games,
        classify_failure,
        error_text,
        retry_activity,
    )

PAIRINGS_PER_RUN = 100
"""Bounds a run's history: a pairing takes about six events."""
GAMES_PER_RUN = 10_000
"""Bounds a history's bytes: the games of a batch, up to 32 kB, are in it twice."""

MAX_UNREADABLE_RUNS = 5
"""Runs in a row that may fail to read a sound checkpoint or the games just played. With delays that double, about half
a minute.
"""

CANCELLED_WITHOUT_REASON = "its workflow was cancelled"


@workflow.defn
class TournamentWorkflow:
    """Runs one tournament to its end. Each plan is made from the recorded results, so a run can end at any moment."""

    @workflow.init
    def __init__(self, state: TournamentState) -> None:
        self._state = state
        self._cancelled = ""
        self._wave: asyncio.Future[list[None]] | None = None
        self._failures = 0
        self._left: list[FailedAttempt] = []
        """The last attempts at pairings that this run leaves to the next one."""
        self._unreadable = False

    @workflow.run
    async def run(self, state: TournamentState) -> str:
        if not state.tournament and not await self._open():
            return "failed"
        pairings = games = 0
        while True:
            try:
                plan = await plan_pairings(TournamentRequest(tournament=state.tournament))
                if plan.pairings and not self._cancelled:
                    await self._play(plan)
            except (RetriesExhausted, ActivityError, asyncio.CancelledError) as error:
                if not self._cancelled and not is_cancelled_exception(error):
                    return await self._end("failed", error_text(error))
                self._cancelled = self._cancelled or CANCELLED_WITHOUT_REASON
            if self._cancelled:
                return await self._end("cancelled", self._cancelled)
            if not plan.pairings:
                # a tournament that was ended elsewhere meanwhile keeps its status
                return await self._end("completed") if plan.status == "running" else plan.status
            pairings += len(plan.pairings)
            games += sum(2 * each.request.pairs for each in plan.pairings)
            # delays between attempts continue to grow in the next run, while there are pairings left to it
            state.tries = max((failed.tries for failed in self._left), default=0)
            state.unreadable = state.unreadable + 1 if self._unreadable else 0
            if self._left or new_run_is_due(pairings >= PAIRINGS_PER_RUN or games >= GAMES_PER_RUN):
                await workflow.wait_condition(workflow.all_handlers_finished)
                workflow.continue_as_new(state)

    async def _open(self) -> bool:
        firing = Firing(schedule=self._state.schedule, occasion=workflow.info().workflow_id)
        try:
            opened = await open_scheduled_tournament(firing)
            self._state.tournament, reason = opened.tournament or "", opened.reason
        except ActivityError as error:
            reason = classify_failure(error)[1]
        if not self._state.tournament:
            await note_schedule_failure(ScheduleFailure(schedule=self._state.schedule, reason=reason))
        return bool(self._state.tournament)

    async def _play(self, plan: TournamentPlan) -> None:
        """Play the plan's pairings, a bounded number at once; the first that cannot be played cancels the others."""
        slots = asyncio.Semaphore(plan.at_once)
        tasks = [asyncio.create_task(self._pairing(pairing, slots)) for pairing in plan.pairings]
        self._wave = asyncio.gather(*tasks)
        try:
            # shielded, so that this method sees the cancellation before the pairings do, which would retry
            await asyncio.shield(self._wave)
        except BaseException as error:
            if is_cancelled_exception(error):
                self._cancelled = self._cancelled or CANCELLED_WITHOUT_REASON
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        finally:
            self._wave = None

    async def _pairing(self, pairing: PlannedPairing, slots: asyncio.Semaphore) -> None:
        async with slots:
            outcome = await self._games(pairing)
            if outcome is not None:
                await self._record(pairing, outcome)

    async def _record(self, pairing: PlannedPairing, outcome: PlayOutcome) -> None:
        """Record the games; if the file they are in cannot be read, leave the pairing to a later run."""
        report = PairingReport(
            tournament=self._state.tournament, round=pairing.round, pair=pairing.pair, outcome=outcome
        )
        try:
            await record_pairing(report)
        except ActivityError as error:
            lost = as_lost_games(error)
            if lost is None or self._state.unreadable >= MAX_UNREADABLE_RUNS:
                raise
            await self._leave_for_later(pairing, lost)

    async def _games(self, pairing: PlannedPairing) -> PlayOutcome | None:
        """Play the pairing's games; None if a side was withdrawn, or if the pairing is left to the next run."""

        async def note(failed: FailedAttempt) -> None:
            self._failures += 1
            await note_pairing_setback(self._failed_pairing(pairing, failed))

        try:
            outcome, _ = await retry_activity(
                play_games,
                pairing.request,
                on_failure=note,
                should_stop=lambda: bool(self._cancelled) or self._failures >= FAILURES_PER_RUN,
                tries=self._state.tries,
            )
        except RetriesExhausted as end:
            if self._cancelled:
                raise
            if end.last.failure is Failure.DAMAGED_CHECKPOINT:
                await self._withdraw(pairing, end.last)
                return None
            if end.final:
                raise
            self._left.append(end.last)
            return None
        return outcome

    async def _withdraw(self, pairing: PlannedPairing, failed: FailedAttempt) -> None:
        """Withdraw the entrants whose checkpoints are damaged; the tournament continues without them."""
        damaged = DamagedPairing(
            tournament=self._state.tournament, round=pairing.round, pair=pairing.pair, problem=failed.problem
        )
        try:
            await withdraw_damaged(damaged)
        except ActivityError as error:
            sound = classify_failure(error)[0] is Failure.BAD_INPUT and self._state.unreadable < MAX_UNREADABLE_RUNS
            if not sound or not workflow.patched("sound-after-all"):
                raise
            await self._leave_for_later(pairing, failed)

    async def _leave_for_later(self, pairing: PlannedPairing, failed: FailedAttempt) -> None:
        """A file that could not be read may be readable later: retry in a later run, after a delay."""
        again = replace(failed, delay=timedelta(seconds=2.0**self._state.unreadable))
        await note_pairing_setback(self._failed_pairing(pairing, again))
        await workflow.sleep(again.delay, summary=summary_line(f"before a later run retries: {again.failure}"))
        self._unreadable = True
        self._left.append(again)

    def _failed_pairing(self, pairing: PlannedPairing, failed: FailedAttempt) -> FailedPairing:
        return FailedPairing(
            tournament=self._state.tournament,
            # with the failure: lost games always count as the first attempt, and another failure may have that number
            key=f"{workflow.info().run_id}:{pairing.round}:{pairing.pair}:{failed.failure.value}:{failed.tries}",
            round=pairing.round,
            pair=pairing.pair,
            failure=failed.failure.value,
            problem=failed.problem,
            tries=failed.tries,
            delay_seconds=failed.delay.total_seconds(),
        )

    async def _end(self, status: str, reason: str = "") -> str:
        """Rate what was played, then set the status: a client that sees the end also sees the ratings."""
        tournament = self._state.tournament
        try:
            await rate_tournament(TournamentRequest(tournament=tournament))
        except ActivityError as error:
            status, reason = "failed", f"the ratings could not be made: {classify_failure(error)[1]}"
        await end_tournament(TournamentEnd(tournament=tournament, status=status, reason=reason))
        show_status(status)
        await workflow.wait_condition(workflow.all_handlers_finished)
        return status

    @workflow.signal
    def cancel(self, reason: str) -> None:
        """End early: recorded pairings stay, those under way are cancelled."""
        self._cancelled = reason or "cancelled by an operator"
        if self._wave is not None:
            self._wave.cancel()
