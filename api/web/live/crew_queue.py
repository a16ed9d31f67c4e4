"""Who waits for whom: the store knows shares and quotas, Temporal which generations have a crew."""

from __future__ import annotations

import asyncio

from starlette.concurrency import run_in_threadpool

from api.schemas.installation.crew_queue import CrewQueue, TrialInQueue, WaitingGeneration
from api.schemas.progress import GenerationProgress
from api.store.core.engine import Sessions
from api.store.overview.crew_queue import LearnerInQueue, SharingTrial, sharing_trials
from api.web.live.progress import ProgressPoller
from api.web.services import Services

MOST_LEARNERS = 300
"""Each is a question to Temporal."""


async def crew_queue(sessions: Sessions, poller: ProgressPoller) -> CrewQueue:
    """The trials that train now: what each has, and what it waits for."""

    def read() -> list[SharingTrial]:
        with sessions() as session:
            return sharing_trials(session)

    trials = await run_in_threadpool(read)
    learners = [learner for trial in trials for learner in trial.learners]
    asked = learners[:MOST_LEARNERS]
    found = await asyncio.gather(*(poller.attempt_of(each.player_id, each.name, each.generation) for each in asked))
    attempts = {each.player_id: attempt for each, attempt in zip(asked, found, strict=True)}
    shown = [_shown(trial, attempts) for trial in trials]
    holders = sorted((each for each in shown if each.training), key=lambda each: -each.training)
    shown = [each.model_copy(update={"behind": _behind(each, holders)}) for each in shown]
    shown.sort(key=lambda each: (not each.waiting, each.waiting[0].since.timestamp() if each.waiting else 0.0))
    return CrewQueue(trials=shown, not_asked=len(learners) - len(asked))


async def shared_crew_queue(services: Services) -> CrewQueue:
    """The same, read once for all that ask while an answer is under way."""

    async def read() -> CrewQueue:
        return await crew_queue(services.sessions, ProgressPoller(services.sessions, services.temporal, services.feed))

    return await services.crew_queues.get_async("queue", read)


def trials_ahead(queue: CrewQueue, trial_id: str) -> list[str]:
    """The other trials whose crews this one waits for; empty where it waits for none."""
    return next((each.behind for each in queue.trials if each.trial_id == trial_id), [])


def _shown(trial: SharingTrial, attempts: dict[str, GenerationProgress | None]) -> TrialInQueue:
    waiting = [
        _waiting(learner, attempt.waiting)
        for learner in trial.learners
        if (attempt := attempts.get(learner.player_id)) is not None and attempt.waiting
    ]
    under_way = sum(attempts.get(learner.player_id) is not None for learner in trial.learners)
    return TrialInQueue(
        **trial.fields,
        learners=len(trial.learners),
        training=under_way - len(waiting),
        waiting=sorted(waiting, key=lambda each: each.since),
        behind=[],
    )


def _behind(trial: TrialInQueue, holders: list[TrialInQueue]) -> list[str]:
    """The other trials that have crews, where this one waits."""
    if not trial.waiting:
        return []
    return [f"{other.project}/{other.trial}" for other in holders if other.trial_id != trial.trial_id]


def _waiting(learner: LearnerInQueue, reason: str) -> WaitingGeneration:
    return WaitingGeneration(
        player_id=learner.player_id,
        player=learner.name,
        generation=learner.generation + 1,
        since=learner.since,
        reason=reason,
    )
