"""One generation of one player: the pure function that everything else in the data plane serves."""

from __future__ import annotations

from orchestrator.artifacts import ArtifactStore
from workers.crews.crew import Ask, Tell, Waits
from workers.crews.member import CrewPlan
from workers.crews.pool import CrewPool
from workers.crews.task import GenerationResult, GenerationTask, Topology


def run_generation(
    task: GenerationTask,
    *,
    store: ArtifactStore,
    progress: Tell,
    should_stop: Ask,
    waits: Waits = lambda: None,
    crews: CrewPool | None = None,
) -> GenerationResult:
    """Train the task's learner for one generation on Ray, which must be initialised.

    With `crews`, warm actors are reused and kept; without, they end with the generation. Returns within a second
    of `should_stop` turning true, by raising GenerationStopped; raises CrewLost when an actor dies. `waits` is
    called while others hold the CPUs that it needs.
    """
    plan = crew_plan(task)
    pool = CrewPool(store) if crews is None else crews
    try:
        with pool.crew(plan, task, should_stop, waits) as crew:
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
    """Fused wins at every measured model size on CPUs (docs/decisions/crews.md); only split crews have trainers."""
    if task.topology == Topology.AUTO:
        return task.trainers > 1
    return task.topology == Topology.SPLIT
