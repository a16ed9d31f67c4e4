"""One trial: starts its players, keeps its budget, and takes orders from people."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from league.types import CheckpointRef, Role
    from orchestrator.contracts.trials import (
        AddPlayer,
        ChangePlayer,
        EnterPlayers,
        InitialWeightsRequest,
        Learner,
        StatusChange,
        TrialBrief,
        TrialEvent,
        TrialRequest,
        add_player,
        begin_trial,
        change_player,
        change_status,
        collect_garbage,
        enter_players,
        make_initial_weights,
        note_event,
    )
    from orchestrator.contracts.workflows import (
        Happening,
        LiveStatus,
        Mode,
        NewPlayer,
        PlayerChange,
        PlayerState,
        Report,
        Seat,
        Status,
        StopOrder,
        TrialState,
    )
    from orchestrator.workflows.attempts import GivenUp, Setback, persist, words_of
    from orchestrator.workflows.messages import start_player, tell_gate_to_stop, tell_player

REPORTS_A_RUN = 250
"""Reports after which a new run begins, so that a history stays near a thousand events."""


@workflow.defn
class TrialWorkflow:
    """The trial's life: pending, running, pausing, paused, stopping, then stopped, completed or failed."""

    @workflow.init
    def __init__(self, state: TrialState) -> None:
        self._state = state
        self._reports: list[Report] = []
        self._reports_taken = 0
        self._changed = False
        """Set by orders, so that the main loop looks again."""
        self._status_lock = asyncio.Lock()

    @workflow.run
    async def run(self, state: TrialState) -> Status:
        try:
            await self._live()
        except (ActivityError, GivenUp) as error:
            self._state.final, self._state.reason, self._state.mode = Status.FAILED, words_of(error), Mode.NOW
            await self._tell_players()
        await self._conclude()
        return self._state.status

    # -- the main loop ------------------------------------------------------------------------------------------

    async def _live(self) -> None:
        state = self._state
        if state.brief is None:
            state.brief = await begin_trial(TrialRequest(trial=state.trial))
            state.steps = state.brief.steps
            if state.brief.start_paused:
                # first: an order that comes while the status is being recorded must not be overwritten
                state.mode = Mode.PAUSE
                await self._move(Status.PAUSED, "waits for `resume`, as its file says")
            else:
                await self._launch()
        while not self._is_over():
            await self._wait_for_news()
            while self._reports:
                await self._take(self._reports.pop(0))
            await self._follow_orders()
            await self._keep_budget()
            quiet = workflow.all_handlers_finished() and not self._reports and not self._changed
            if self._reports_taken >= REPORTS_A_RUN and quiet:
                self._stop_clock()
                workflow.continue_as_new(state)

    def _is_over(self) -> bool:
        state = self._state
        if state.mode is not Mode.NOW and state.mode is not Mode.DRAIN:
            return False
        return all(seat.ended for seat in state.seats.values()) and not state.gates

    async def _wait_for_news(self) -> None:
        self._start_clock()
        try:
            await workflow.wait_condition(
                lambda: bool(self._reports) or self._changed or self._is_over(), timeout=self._time_left()
            )
        except TimeoutError:
            await self._finish(Status.COMPLETED, "the wall-clock budget is used up")
        self._changed = False

    async def _take(self, report: Report) -> None:
        """Act on one line from a player or a gate."""
        state = self._state
        self._reports_taken += 1
        seat = state.seats.get(report.sender)
        if seat is not None:
            seat.generation = max(seat.generation, report.generation)
            seat.idle = report.happening is Happening.IDLE
            seat.ended = seat.ended or report.happening in (Happening.ENDED, Happening.FAILED)
        state.steps = max(state.steps, report.trial_steps)
        match report.happening:
            case Happening.FAILED:
                await self._finish(Status.FAILED, report.detail)
            case Happening.TARGET_REACHED:
                await self._finish(Status.COMPLETED, f"target reached: {report.detail}")
            case Happening.RECORDED:
                self._expect_gate(report.next_gate)
            case Happening.GATE_OPENED:
                self._expect_gate(report.sender)
                if state.mode is Mode.NOW:  # it was not there yet when the others were told
                    await tell_gate_to_stop(report.sender, state.reason)
            case Happening.GATE_ENDED:
                state.gates = [gate for gate in state.gates if gate != report.sender]
                self._expect_gate(report.next_gate)

    def _expect_gate(self, gate: str | None) -> None:
        if gate and gate not in self._state.gates:
            self._state.gates.append(gate)

    async def _follow_orders(self) -> None:
        """Carry the orders that people gave to the players, and notice when they are carried out."""
        state = self._state
        if state.status is Status.RUNNING and not state.launched and state.mode is Mode.RUN:
            await self._launch()
        pausing = state.status is Status.PAUSING and state.mode is Mode.PAUSE
        if pausing and all(seat.idle or seat.ended for seat in state.seats.values()):
            self._stop_clock()
            await self._move(Status.PAUSED, state.reason)
        if all(seat.ended for seat in state.seats.values()) and state.launched and not state.mode.ends:
            await self._finish(Status.COMPLETED, "no learning player is left")

    async def _keep_budget(self) -> None:
        brief, state = self._brief, self._state
        if brief.budget_steps is not None and state.steps >= brief.budget_steps and not state.mode.ends:
            await self._finish(Status.COMPLETED, f"the budget of {brief.budget_steps} steps is used up")

    async def _finish(self, final: Status, reason: str) -> None:
        """Let what is under way end, then conclude; the first reason to finish counts."""
        if self._state.mode.ends:
            return
        self._state.final, self._state.mode = final, Mode.DRAIN
        await self._move(Status.STOPPING, reason)
        await self._tell_players()

    async def _conclude(self) -> None:
        self._stop_clock()
        await workflow.wait_condition(workflow.all_handlers_finished)
        try:
            await collect_garbage(TrialRequest(trial=self._state.trial))
        except ActivityError as error:
            # a courtesy: whatever trial ends next collects again
            workflow.logger.warning("garbage was left: %s", words_of(error))
        await self._move(self._state.final or Status.STOPPED, self._state.reason)

    # -- beginnings ---------------------------------------------------------------------------------------------

    async def _launch(self) -> None:
        """First weights, first versions, one workflow for each learning player."""
        brief, state = self._brief, self._state
        initial = brief.initial or await self._make_weights()
        await enter_players(EnterPlayers(trial=brief.trial, initial=initial))
        if state.status is Status.PENDING:  # else it was resumed, and perhaps paused or stopped again since
            await self._move(Status.RUNNING)
        state.launched = True
        for learner in brief.learners:
            await self._start(learner)

    async def _make_weights(self) -> CheckpointRef:
        brief = self._brief
        request = InitialWeightsRequest(
            trial=brief.trial, game=brief.game, model=brief.model, seed=brief.seed, source=brief.initial_source
        )
        return (await persist(make_initial_weights, request, on_setback=self._note_setback))[0]

    async def _note_setback(self, setback: Setback) -> None:
        payload = {
            "failure": setback.failure.value,
            "problem": setback.problem,
            "tries": setback.tries,
            "delay_seconds": setback.delay.total_seconds(),
        }
        key = f"weights:{workflow.info().run_id}:{setback.tries}"
        await note_event(TrialEvent(trial=self._state.trial, key=key, type="weights_retried", payload=payload))

    async def _start(self, learner: Learner) -> None:
        brief, state = self._brief, self._state
        mode = state.mode
        state.seats[learner.player] = Seat(learner=learner, generation=learner.generation)
        await start_player(
            PlayerState(
                trial=brief.trial,
                trial_name=brief.name,
                player=learner.player,
                name=learner.name,
                role=learner.role,
                generation=learner.generation,
                mode=mode,
                target=brief.target,
                evaluate_every=brief.evaluate_every,
            )
        )
        if state.mode is not mode:  # an order that was given meanwhile found nobody there
            await tell_player(learner.player, state.mode)

    # -- orders -------------------------------------------------------------------------------------------------

    @workflow.update
    async def pause(self) -> Status:
        """Let every player finish its generation, then wait."""
        self._state.mode = Mode.PAUSE
        for seat in self._state.seats.values():
            seat.idle = False  # each says so anew
        await self._move(Status.PAUSING, "paused by an operator")
        await self._tell_players()
        self._changed = True
        return self._state.status

    @pause.validator
    def _may_pause(self) -> None:
        self._require("paused", Status.RUNNING)

    @workflow.update
    async def resume(self) -> Status:
        """Go on after a pause, or cancel a pause that is not complete yet."""
        self._state.mode = Mode.RUN
        for seat in self._state.seats.values():
            seat.idle = False
        await self._move(Status.RUNNING)
        await self._tell_players()
        self._changed = True
        return self._state.status

    @resume.validator
    def _may_resume(self) -> None:
        self._require("resumed", Status.PAUSED, Status.PAUSING)

    @workflow.update
    async def stop(self, order: StopOrder) -> Status:
        """Drain: finish and record what is under way. Now: give it up and end within seconds."""
        state = self._state
        if state.final is None:
            state.final = Status.STOPPED
        state.mode = order.mode
        await self._move(Status.STOPPING, order.reason)
        await self._tell_players()
        if order.mode is Mode.NOW:
            for gate in state.gates:
                await tell_gate_to_stop(gate, order.reason)
        self._changed = True
        return state.status

    @stop.validator
    def _may_stop(self, order: StopOrder) -> None:
        if not order.mode.ends:
            raise ApplicationError(f"a stop's mode is drain or now, not {order.mode}", non_retryable=True)
        hurry = order.mode is Mode.NOW and self._state.mode is not Mode.NOW
        allowed = (Status.RUNNING, Status.PAUSING, Status.PAUSED, *((Status.STOPPING,) if hurry else ()))
        self._require("stopped", *allowed)

    @workflow.update
    async def add_player(self, new: NewPlayer) -> Learner:
        """A new member of the league; a learning one starts to train at once."""
        learner = await add_player(
            AddPlayer(
                trial=self._state.trial,
                key=new.key,
                name=new.name,
                role=new.role,
                bot=new.bot,
                hyperparameters=new.hyperparameters,
            )
        )
        if learner.role.learns and learner.player not in self._state.seats:
            await self._start(learner)
        self._changed = True
        return learner

    @add_player.validator
    def _may_add_player(self, new: NewPlayer) -> None:
        self._require("given a new player", Status.RUNNING, Status.PAUSED, Status.PAUSING)
        if not self._state.launched:
            raise ApplicationError("resume the trial once before you add players to it", non_retryable=True)

    @workflow.update
    async def change_player(self, change: PlayerChange) -> Learner:
        """Retire a player, or retune it from its next generation on."""
        learner = await change_player(
            ChangePlayer(
                trial=self._state.trial,
                player=change.player,
                retire=change.retire,
                hyperparameters=change.hyperparameters,
            )
        )
        if change.retire and change.player in self._state.seats:
            await tell_player(change.player, Mode.DRAIN)
        return learner

    @change_player.validator
    def _may_change_player(self, change: PlayerChange) -> None:
        self._require("changed", Status.RUNNING, Status.PAUSED, Status.PAUSING)
        if not change.retire and change.hyperparameters is None:
            raise ApplicationError("say what to change: retire, or hyperparameters", non_retryable=True)
        mains = [s for s in self._state.seats.values() if s.learner.role is Role.MAIN and not s.ended]
        if change.retire and [seat.learner.player for seat in mains] == [change.player]:
            raise ApplicationError("the last main cannot be retired; stop the trial instead", non_retryable=True)

    def _require(self, verb: str, *allowed: Status) -> None:
        status = self._state.status
        if self._state.mode.ends and status in (Status.RUNNING, Status.PAUSING, Status.PAUSED):
            status = Status.STOPPING  # decided, but an earlier change of status is still being recorded
        if status not in allowed:
            words = ", ".join(allowed)
            raise ApplicationError(
                f"a trial that is {status} cannot be {verb}; it must be one of: {words}",
                type="conflict",
                non_retryable=True,
            )

    # -- news ---------------------------------------------------------------------------------------------------

    @workflow.signal
    def report(self, report: Report) -> None:
        """A line from a player or a gate."""
        self._reports.append(report)

    @workflow.query
    def live(self) -> LiveStatus:
        """How the trial is at this moment."""
        state = self._state
        return LiveStatus(
            status=state.status,
            reason=state.reason,
            steps=state.steps,
            seconds=self._seconds(),
            players={seat.learner.name: seat.generation for seat in state.seats.values()},
            gates=list(state.gates),
        )

    # -- small things -------------------------------------------------------------------------------------------

    @property
    def _brief(self) -> TrialBrief:
        assert self._state.brief is not None, "the trial has begun"
        return self._state.brief

    async def _move(self, status: Status, reason: str = "") -> None:
        """Change the status here and in the store, one change at a time."""
        async with self._status_lock:
            self._state.status, self._state.reason = status, reason
            await change_status(StatusChange(trial=self._state.trial, status=status, reason=reason))

    async def _tell_players(self) -> None:
        """Pass on what the trial wants by now, which may be newer than the order that set this off."""
        for seat in list(self._state.seats.values()):  # a copy: players may join meanwhile
            if not seat.ended:
                await tell_player(seat.learner.player, self._state.mode)

    def _start_clock(self) -> None:
        if self._state.running_since is None and self._state.status is Status.RUNNING:
            self._state.running_since = workflow.time()

    def _stop_clock(self) -> None:
        if self._state.running_since is not None:
            self._state.seconds_used = self._seconds()
            self._state.running_since = None

    def _seconds(self) -> float:
        since = self._state.running_since
        return self._state.seconds_used + (workflow.time() - since if since is not None else 0.0)

    def _time_left(self) -> timedelta | None:
        """Until the wall-clock budget is used up; None where there is none or the clock stands."""
        limit = self._brief.wall_clock_seconds
        if limit is None or self._state.running_since is None or self._state.mode.ends:
            return None
        return timedelta(seconds=max(0.0, limit - self._seconds()))
