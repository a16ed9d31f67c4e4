"""Orders of people to a trial, as updates; validators refuse those that conflict with its status."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from league.types import Role
    from orchestrator.contracts.trials import (
        AddPlayer,
        ChangePlayer,
        InitialWeightsRequest,
        Learner,
        StatusChange,
        TrialBrief,
        add_player,
        change_player,
        change_status,
        make_initial_weights,
    )
    from orchestrator.contracts.workflows import (
        PAUSED_BY_OPERATOR,
        Mode,
        NewPlayer,
        PlayerChange,
        PlayerStatus,
        Status,
        StopOrder,
        TrialState,
    )
    from orchestrator.workflows.own_labels import show_status
    from orchestrator.workflows.signals import set_player_mode, start_player, stop_gate_workflow
    from orchestrator.workflows.trial_start import initial_player_state


PLAYERS_AT_ONCE = 50
"""Players whose workflows are started, or signalled, by one task: all of it travels in one message to Temporal."""


class TrialOrders:
    """The update handlers of a trial's workflow."""

    def __init__(self, state: TrialState) -> None:
        self._state = state
        self._changed = False
        """Set by handlers, so that the main loop checks the state again."""
        self._launching: asyncio.Task[None] | None = None
        self._withdrawn = False
        self._status_lock = asyncio.Lock()

    @workflow.update
    async def pause(self) -> Status:
        """Let every player finish its generation, then wait for `resume`."""
        self._state.paused_by_sweep = False
        return await self._pause(PAUSED_BY_OPERATOR)

    async def _pause(self, reason: str) -> Status:
        self._state.mode = Mode.PAUSE
        for player in self._state.seats.values():
            player.idle = False  # until it reports again
        await self._move(Status.PAUSING, reason)
        await self._send_mode_to_players()
        self._changed = True
        return self._state.status

    @pause.validator
    def _may_pause(self) -> None:
        self._require("paused", Status.RUNNING)

    @workflow.update
    async def resume(self) -> Status:
        """Continue after a pause, or cancel a pause that is not complete yet."""
        return await self._resume()

    async def _resume(self) -> Status:
        self._state.mode = Mode.RUN
        for player in self._state.seats.values():
            player.idle = False
        await self._move(Status.RUNNING)
        await self._send_mode_to_players()
        self._changed = True
        return self._state.status

    @resume.validator
    def _may_resume(self) -> None:
        self._require("resumed", Status.PAUSED, Status.PAUSING)

    @workflow.update
    async def stop(self, order: StopOrder) -> Status:
        """Drain: finish and record running generations. Now: cancel them and end within seconds."""
        return await self._stop(order)

    async def _stop(self, order: StopOrder) -> Status:
        state = self._state
        if state.final is None:
            state.final = Status.STOPPED
        state.mode = order.mode
        self._break_off_launch()
        await self._move(Status.STOPPING, order.reason)
        await self._send_mode_to_players()
        if order.mode is Mode.NOW:
            for gate in state.gates:
                await self._stop_gate(gate, order.reason)
        self._changed = True
        return state.status

    @stop.validator
    def _may_stop(self, order: StopOrder) -> None:
        if not order.mode.ends:
            raise ApplicationError(f"the mode of a stop must be drain or now, not {order.mode}", non_retryable=True)
        hurry = order.mode is Mode.NOW and self._state.mode is not Mode.NOW
        allowed = (Status.PENDING, Status.RUNNING, Status.PAUSING, Status.PAUSED)
        self._require("stopped", *allowed, *((Status.STOPPING,) if hurry else ()))

    @workflow.signal
    async def follow_sweep(self, order: StopOrder) -> None:
        """An order of the trial's sweep. One that the trial has followed already, or no longer can, has no effect.

        A trial that an operator paused is not resumed by its sweep.
        """
        state = self._state
        if state.mode.ends and not (order.mode is Mode.NOW and state.mode is Mode.DRAIN):
            return
        if order.mode.ends:
            await self._stop(order)
        elif order.mode is Mode.PAUSE and state.status is Status.RUNNING and state.mode is Mode.RUN:
            state.paused_by_sweep = True
            await self._pause(order.reason)
        elif order.mode is Mode.RUN and state.paused_by_sweep:
            state.paused_by_sweep = False
            await self._resume()

    @workflow.signal
    def withdraw(self, reason: str) -> None:
        """The store stopped the trial before it started, because no worker took the order to stop it."""
        self._withdrawn = True
        self._state.mode, self._state.final, self._state.reason = Mode.NOW, Status.STOPPED, reason
        self._break_off_launch()
        self._changed = True

    @workflow.update
    async def add_player(self, new: NewPlayer) -> Learner:
        """Add a player to the league; a learning player starts to train at once."""
        brief, initial = self._brief, None
        if new.start is not None:
            initial = await make_initial_weights(
                InitialWeightsRequest(
                    trial=self._state.trial,
                    game=brief.game,
                    model=new.start.model,
                    algorithm=new.start.algorithm,
                    seed=brief.seed,
                )
            )
        learner = await add_player(
            AddPlayer(
                trial=self._state.trial,
                key=new.key,
                name=new.name,
                role=new.role,
                bot=new.bot,
                hyperparameters=new.hyperparameters,
                algorithm=new.algorithm,
                model=new.model,
                initial=initial,
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
        """Retire a player, or change its hyperparameters from its next generation on."""
        order = ChangePlayer(
            trial=self._state.trial,
            player=change.player,
            retire=change.retire,
            hyperparameters=change.hyperparameters,
        )
        player = self._state.seats.get(change.player)
        if not change.retire or player is None or player.retiring:
            learner = await change_player(order)
        else:
            player.retiring = True  # set first: an order that arrives meanwhile must not count on this player
            try:
                learner = await change_player(order)
            except ActivityError:
                player.retiring = False
                raise
        if change.retire and change.player in self._state.seats:
            self._state.seats[change.player].retiring = True
            await set_player_mode(change.player, Mode.DRAIN)
        return learner

    @change_player.validator
    def _may_change_player(self, change: PlayerChange) -> None:
        self._require("changed", Status.RUNNING, Status.PAUSED, Status.PAUSING)
        if not change.retire and change.hyperparameters is None:
            raise ApplicationError("a change needs retire or hyperparameters", non_retryable=True)
        mains = [player for player in self._state.seats.values() if player.learner.role is Role.MAIN and player.stays]
        if change.retire and [player.learner.player for player in mains] == [change.player]:
            raise ApplicationError("the last main cannot be retired; stop the trial instead", non_retryable=True)

    def _require(self, verb: str, *allowed: Status) -> None:
        status = self._state.status
        if self._state.mode.ends and status in (Status.PENDING, Status.RUNNING, Status.PAUSING, Status.PAUSED):
            status = Status.STOPPING  # an earlier change of status is still being recorded
        if status not in allowed:
            words = ", ".join(allowed)
            raise ApplicationError(
                f"a trial that is {status} cannot be {verb}; it must be one of: {words}",
                type="conflict",
                non_retryable=True,
            )

    async def _start(self, learner: Learner) -> None:
        brief, state = self._brief, self._state
        mode = state.mode
        state.seats[learner.player] = PlayerStatus(learner=learner, generation=learner.generation)
        await start_player(initial_player_state(brief, learner, mode))
        if state.mode is mode:
            return
        # an order given meanwhile did not reach this player, and may have taken it for one without a workflow
        reached = await set_player_mode(learner.player, state.mode)
        if reached and state.seats[learner.player].ended and workflow.patched("started-after-the-order"):
            state.seats[learner.player].ended = False  # its own report will tell its end

    async def _adopt_players(self) -> None:
        """Take over the players of a trial's workflow that was lost; those that were lost too start again."""
        for learner in self._brief.learners:
            self._state.seats[learner.player] = PlayerStatus(learner=learner, generation=learner.generation)
            if not await set_player_mode(learner.player, self._state.mode):
                await self._restart(self._state.seats[learner.player])

    async def _restart(self, player: PlayerStatus) -> None:
        """Start the workflow of a player again that ended without a report, unless the player is to end anyway."""
        if self._state.mode.ends or player.retiring:
            player.ended = True
            return
        learner = replace(player.learner, generation=player.generation)
        await start_player(initial_player_state(self._brief, learner, self._state.mode))

    async def _stop_gate(self, gate: str, reason: str) -> None:
        """End a gate early. The trial does not wait for a gate that has no workflow."""
        signalled = await stop_gate_workflow(gate, reason)
        if not signalled and workflow.patched("forget-silent-gates"):
            self._state.gates = [each for each in self._state.gates if each != gate]

    def _break_off_launch(self) -> None:
        """Cancel the launch: a trial that has not started has nothing to finish."""
        if self._launching is not None:
            self._launching.cancel()

    @property
    def _brief(self) -> TrialBrief:
        assert self._state.brief is not None, "the trial has started"
        return self._state.brief

    async def _move(self, status: Status, reason: str = "") -> None:
        """Change the status here, in the store and in Temporal's Web UI, one change at a time."""
        async with self._status_lock:
            self._state.status, self._state.reason = status, reason
            order = workflow.current_update_info()
            await change_status(
                StatusChange(
                    trial=self._state.trial, status=status, reason=reason, order=None if order is None else order.id
                )
            )
            show_status(status)

    async def _send_mode_to_players(self) -> None:
        """Send every player the trial's present mode, which may be newer than the order that led here."""
        players = list(self._state.seats.values())  # a copy: players may join meanwhile
        if len(players) > 1 and workflow.patched("orders-together"):
            for first in range(0, len(players), PLAYERS_AT_ONCE):
                await asyncio.gather(*map(self._send_mode_to, players[first : first + PLAYERS_AT_ONCE]))
            return
        for player in players:
            await self._send_mode_to(player)

    async def _send_mode_to(self, player: PlayerStatus) -> None:
        if player.ended or await set_player_mode(player.learner.player, self._state.mode):
            return
        # nobody will report the end of a workflow that was terminated
        if self._state.mode.ends and workflow.patched("forget-silent-players"):
            player.ended = True
