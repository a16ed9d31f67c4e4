"""One generation of one player: the pure function that everything else in the data plane serves."""

from __future__ import annotations

import math

from orchestrator.artifacts import ArtifactStore
from workers.crews.crew import Ask, Tell
from workers.crews.member import CrewPlan, game_of
from workers.crews.pool import CrewPool
from workers.crews.task import GenerationResult, GenerationTask, Topology
from workers.models.contract import build_model

SPLIT_FROM_PARAMETERS = 2_000_000
"""Models of this size and up are trained by a split crew unless told otherwise; see docs/decisions."""


def run_generation(
    task: GenerationTask, *, store: ArtifactStore, progress: Tell, should_stop: Ask, crews: CrewPool | None = None
) -> GenerationResult:
    """Train the task's learner for one generation on Ray, which must be initialised.

    With `crews`, warm actors are reused and kept; without, they end with the generation. Returns within a second
    of `should_stop` turning true, by raising GenerationStopped; raises CrewLost when an actor dies.
    """
    plan = crew_plan(task)
    pool = CrewPool(store) if crews is None else crews
    try:
        with pool.crew(plan, task, should_stop) as crew:
            return crew.run(task, progress, should_stop)
    finally:
        if crews is None:
            pool.close()


def crew_plan(task: GenerationTask) -> CrewPlan:
    """The crew that serves this task."""
    return CrewPlan(
        game=task.game,
        model=task.model,
        algorithm=task.algorithm,
        tables=task.tables,
        rollout_actors=task.rollout_actors,
        trainers=task.trainers,
        threads=task.threads,
        split=_splits(task),
    )


def _splits(task: GenerationTask) -> bool:
    if task.topology is not Topology.AUTO:
        return Topology(task.topology) is Topology.SPLIT
    model = build_model(task.model, game_of(task.game, 1).spec)
    return math.fsum(p.numel() for p in model.parameters()) >= SPLIT_FROM_PARAMETERS
