"""A trial's start: first weights, first versions, and the initial state of its players' workflows."""

from __future__ import annotations

from collections.abc import Callable

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from league.types import CheckpointRef
    from orchestrator.contracts.errors import Failure
    from orchestrator.contracts.trials import (
        EnterPlayers,
        InitialWeightsRequest,
        Learner,
        OwnStart,
        TrialBrief,
        TrialEvent,
        enter_players,
        make_initial_weights,
        note_event,
    )
    from orchestrator.contracts.workflows import Mode, PlayerState
    from orchestrator.workflows.retries import FAILURES_PER_RUN, FailedAttempt, classify_failure, retry_activity

MAX_WEIGHTS_MADE = 3
"""How often the first weights are made, if garbage collection removes them before they are recorded."""


async def create_first_versions(brief: TrialBrief, *, should_stop: Callable[[], bool], tries: int) -> None:
    """Create every player's first version. Weights that garbage collection removed meanwhile are made again."""
    for making in range(1, MAX_WEIGHTS_MADE + 1):
        initial = brief.initial or await _make_first_weights(brief, should_stop=should_stop, tries=tries)
        own: dict[str, CheckpointRef] = {}
        for start in brief.own_starts:
            made = await _make_first_weights(brief, start, should_stop=should_stop, tries=tries)
            own |= dict.fromkeys(start.players, made)
        try:
            await enter_players(EnterPlayers(trial=brief.trial, initial=initial, own=own))
        except ActivityError as error:
            ours = brief.initial is None or bool(own)
            lost = classify_failure(error)[0] is Failure.DAMAGED_CHECKPOINT and ours
            if not lost or making == MAX_WEIGHTS_MADE:
                raise
        else:
            return


async def _make_first_weights(
    brief: TrialBrief, own: OwnStart | None = None, *, should_stop: Callable[[], bool], tries: int
) -> CheckpointRef:
    """Make the weights that learning players start from; each failed attempt is an event of the trial."""
    failures = 0

    async def note(failed: FailedAttempt) -> None:
        nonlocal failures
        failures += 1
        key = f"weights:{workflow.info().run_id}:{failed.tries}"
        await note_event(TrialEvent(trial=brief.trial, key=key, type="weights_retried", payload=failed.payload))

    request = InitialWeightsRequest(
        trial=brief.trial,
        game=brief.game,
        model=brief.model if own is None else own.model,
        seed=brief.seed,
        source=brief.initial_source if own is None else None,
        algorithm=brief.algorithm if own is None else own.algorithm,
        gated=brief.gated,
    )
    made, _ = await retry_activity(
        make_initial_weights,
        request,
        on_failure=note,
        should_stop=lambda: should_stop() or failures >= FAILURES_PER_RUN,
        tries=tries,
    )
    return made


def initial_player_state(brief: TrialBrief, learner: Learner, mode: Mode) -> PlayerState:
    """The state that a player's workflow starts with."""
    return PlayerState(
        trial=brief.trial,
        trial_name=brief.name,
        player=learner.player,
        name=learner.name,
        role=learner.role,
        generation=learner.generation,
        mode=mode,
        target=brief.target,
        evaluate_every=brief.evaluate_every,
        nash_conv=brief.nash_conv,
    )
