"""A trial's beginning: first weights, first versions, and the state its players' workflows start from."""

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
        TrialBrief,
        TrialEvent,
        enter_players,
        make_initial_weights,
        note_event,
    )
    from orchestrator.contracts.workflows import Mode, PlayerState
    from orchestrator.workflows.retries import SETBACKS_A_RUN, Setback, failure_of, persist

MAKINGS = 3
"""Times that lost weights are made anew before something else must be wrong."""


async def enter(brief: TrialBrief, *, given_up: Callable[[], bool], tries: int) -> None:
    """Give every player its first version. Weights that were collected as garbage meanwhile are made anew."""
    for making in range(1, MAKINGS + 1):
        initial = brief.initial or await make_weights(brief, given_up=given_up, tries=tries)
        try:
            await enter_players(EnterPlayers(trial=brief.trial, initial=initial))
        except ActivityError as error:
            lost = failure_of(error)[0] is Failure.DAMAGED_CHECKPOINT and brief.initial is None
            if not lost or making == MAKINGS:
                raise
        else:
            return


async def make_weights(brief: TrialBrief, *, given_up: Callable[[], bool], tries: int) -> CheckpointRef:
    """The weights that all learning players start from; each failed attempt is an event of the trial."""
    setbacks = 0

    async def note(setback: Setback) -> None:
        nonlocal setbacks
        setbacks += 1
        payload = {
            "failure": setback.failure.value,
            "problem": setback.problem,
            "tries": setback.tries,
            "delay_seconds": setback.delay.total_seconds(),
        }
        key = f"weights:{workflow.info().run_id}:{setback.tries}"
        await note_event(TrialEvent(trial=brief.trial, key=key, type="weights_retried", payload=payload))

    request = InitialWeightsRequest(
        trial=brief.trial, game=brief.game, model=brief.model, seed=brief.seed, source=brief.initial_source
    )
    made, _ = await persist(
        make_initial_weights,
        request,
        on_setback=note,
        given_up=lambda: given_up() or setbacks >= SETBACKS_A_RUN,
        tries=tries,
    )
    return made


def first_state(brief: TrialBrief, learner: Learner, mode: Mode) -> PlayerState:
    """What a player's workflow starts with."""
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
    )
