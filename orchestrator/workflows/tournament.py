"""One tournament: plan, play, record, again and again; then rate. All it knows between steps is in the store."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, WorkflowAlreadyStartedError, is_cancelled_exception
from temporalio.workflow import ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.errors import Failure
    from orchestrator.contracts.play import PlayOutcome, play_games
    from orchestrator.contracts.tournaments import (
        DamagedPairing,
        Firing,
        PairingReport,
        PairingSetback,
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
        tournament_workflow_id,
        withdraw_damaged,
    )
    from orchestrator.workflows.retries import SETBACKS_A_RUN, GivenUp, Setback, failure_of, lost_games, persist

PAIRINGS_A_RUN = 100
"""Six events each or so, which bounds a run's history."""
GAMES_A_RUN = 10_000
"""A batch's games travel through the history twice, up to 32 kB of them: some megabytes."""

MOST_UNREADABLE = 5
"""Runs in a row that may fail to read a sound checkpoint or the games just played; with pauses that double this is
half a minute.
"""

UNEXPLAINED = "its workflow was cancelled"


@workflow.defn
class TournamentWorkflow:
    """Runs one tournament to its end. It may die at any moment: the next plan is made from what was recorded."""

    @workflow.init
    def __init__(self, state: TournamentState) -> None:
        self._state = state
        self._cancelled = ""
        self._wave: asyncio.Future[list[None]] | None = None
        self._setbacks = 0
        self._left: list[Setback] = []
        """Of pairings that this run has left to the next one."""
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
            except (GivenUp, ActivityError, asyncio.CancelledError) as error:
                if not self._cancelled and not is_cancelled_exception(error):
                    return await self._end("failed", _words(error))
                self._cancelled = self._cancelled or UNEXPLAINED
            if self._cancelled:
                return await self._end("cancelled", self._cancelled)
            if not plan.pairings:
                # one that was ended while this run did not look stays as it is
                return await self._end("completed") if plan.status == "running" else plan.status
            pairings += len(plan.pairings)
            games += sum(2 * each.request.pairs for each in plan.pairings)
            # pauses between attempts go on growing in the next run, as long as something was left to it
            state.tries = max((setback.tries for setback in self._left), default=0)
            state.unreadable = state.unreadable + 1 if self._unreadable else 0
            if self._left or pairings >= PAIRINGS_A_RUN or games >= GAMES_A_RUN:
                await workflow.wait_condition(workflow.all_handlers_finished)
                workflow.continue_as_new(state)

    async def _open(self) -> bool:
        firing = Firing(schedule=self._state.schedule, occasion=workflow.info().workflow_id)
        try:
            opened = await open_scheduled_tournament(firing)
            self._state.tournament, reason = opened.tournament or "", opened.reason
        except ActivityError as error:
            reason = failure_of(error)[1]
        if not self._state.tournament:
            await note_schedule_failure(ScheduleFailure(schedule=self._state.schedule, reason=reason))
        return bool(self._state.tournament)

    async def _play(self, plan: TournamentPlan) -> None:
        """Every pairing of the plan, a bounded number at once; the first that cannot be played ends the others."""
        slots = asyncio.Semaphore(plan.at_once)
        tasks = [asyncio.create_task(self._pairing(pairing, slots)) for pairing in plan.pairings]
        self._wave = asyncio.gather(*tasks)
        try:
            # shielded, so that a cancelled workflow hears of it before its pairings do, which would try again
            await asyncio.shield(self._wave)
        except BaseException as error:
            if is_cancelled_exception(error):
                self._cancelled = self._cancelled or UNEXPLAINED
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
        """Games that cannot be read again are left to a later run, which plays them anew."""
        report = PairingReport(
            tournament=self._state.tournament, round=pairing.round, pair=pairing.pair, outcome=outcome
        )
        try:
            await record_pairing(report)
        except ActivityError as error:
            lost = lost_games(error)
            if lost is None or self._state.unreadable >= MOST_UNREADABLE:
                raise
            await self._leave_for_later(pairing, lost)

    async def _games(self, pairing: PlannedPairing) -> PlayOutcome | None:
        """The pairing's games; None where a side had to be withdrawn, or when this run has met enough trouble."""

        async def note(setback: Setback) -> None:
            self._setbacks += 1
            await note_pairing_setback(self._setback(pairing, setback))

        try:
            outcome, _ = await persist(
                play_games,
                pairing.request,
                on_setback=note,
                given_up=lambda: bool(self._cancelled) or self._setbacks >= SETBACKS_A_RUN,
                tries=self._state.tries,
            )
        except GivenUp as end:
            if self._cancelled:
                raise
            if end.setback.failure is Failure.DAMAGED_CHECKPOINT:
                await self._withdraw(pairing, end.setback)
                return None
            if end.final:
                raise
            self._left.append(end.setback)
            return None
        return outcome

    async def _withdraw(self, pairing: PlannedPairing, setback: Setback) -> None:
        """Whoever's checkpoint is damaged takes part no longer; the others go on."""
        damaged = DamagedPairing(
            tournament=self._state.tournament, round=pairing.round, pair=pairing.pair, problem=setback.problem
        )
        try:
            await withdraw_damaged(damaged)
        except ActivityError as error:
            sound = failure_of(error)[0] is Failure.BAD_INPUT and self._state.unreadable < MOST_UNREADABLE
            if not sound or not workflow.patched("sound-after-all"):
                raise
            await self._leave_for_later(pairing, setback)

    async def _leave_for_later(self, pairing: PlannedPairing, setback: Setback) -> None:
        """Whatever could not be read, may be read another time, so a later run tries again after a pause."""
        again = replace(setback, delay=timedelta(seconds=2.0**self._state.unreadable))
        await note_pairing_setback(self._setback(pairing, again))
        await workflow.sleep(again.delay)
        self._unreadable = True
        self._left.append(again)

    def _setback(self, pairing: PlannedPairing, setback: Setback) -> PairingSetback:
        return PairingSetback(
            tournament=self._state.tournament,
            # with the failure, for games that were lost are always the first try, as another failure may have been
            key=f"{workflow.info().run_id}:{pairing.round}:{pairing.pair}:{setback.failure.value}:{setback.tries}",
            round=pairing.round,
            pair=pairing.pair,
            failure=setback.failure.value,
            problem=setback.problem,
            tries=setback.tries,
            delay_seconds=setback.delay.total_seconds(),
        )

    async def _end(self, status: str, reason: str = "") -> str:
        """Rate what was played, then say that it is over: who sees the end sees the ratings."""
        tournament = self._state.tournament
        try:
            await rate_tournament(TournamentRequest(tournament=tournament))
        except ActivityError as error:
            status, reason = "failed", f"the ratings could not be made: {failure_of(error)[1]}"
        await end_tournament(TournamentEnd(tournament=tournament, status=status, reason=reason))
        await workflow.wait_condition(workflow.all_handlers_finished)
        return status

    @workflow.signal
    def cancel(self, reason: str) -> None:
        """End early: recorded pairings stay, those under way are given up."""
        self._cancelled = reason or "cancelled by an operator"
        if self._wave is not None:
            self._wave.cancel()


def _words(error: BaseException) -> str:
    if not isinstance(error, ActivityError):
        return str(error)
    failure, problem = failure_of(error)
    return f"{failure}: {problem}"


async def start_tournament(tournament: str) -> None:
    """Start a tournament's workflow from another workflow, which it outlives, unless it runs already."""
    try:
        await workflow.start_child_workflow(
            "TournamentWorkflow",
            TournamentState(tournament=tournament),
            id=tournament_workflow_id(tournament),
            parent_close_policy=ParentClosePolicy.ABANDON,
        )
    except WorkflowAlreadyStartedError:
        workflow.logger.info("already started: %s", tournament_workflow_id(tournament))
