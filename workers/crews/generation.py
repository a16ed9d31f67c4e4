"""Runs one generation of one player on a crew: a pure function of its task.

See docs/decisions/store.md.
"""

from __future__ import annotations

import ray
import torch

from league.training_priority import Urgency
from orchestrator.contracts.generations import GenerationOutcome, GenerationTask
from orchestrator.storage.artifacts import ArtifactStore, DamagedArtifact, MissingArtifact
from workers.algorithms.contract import parse_options
from workers.crews.crew import OnProgress
from workers.crews.errors import CrewLost
from workers.crews.hosts.contract import OnWaiting, ShouldStop
from workers.crews.partial import OnPartial
from workers.crews.plan import crew_plan
from workers.crews.pool import CrewPool
from workers.crews.task import check_task


def run_generation(
    task: GenerationTask,
    *,
    store: ArtifactStore,
    progress: OnProgress,
    should_stop: ShouldStop,
    on_waiting: OnWaiting = lambda _: None,
    crews: CrewPool | None = None,
    urgency: int = Urgency.IN_STEP,
    on_partial: OnPartial | None = None,
) -> GenerationOutcome:
    """Train the task's learner for one generation on Ray, which must be initialised.

    With `crews`, warm actors are reused and kept; without it, they end with the generation. Raises GenerationStopped
    within a second of `should_stop` turning true, and CrewLost when an actor dies. `on_waiting` is called while
    other generations hold the CPUs that this one needs; the most urgent one gets them first. `on_partial` is called
    with each mid-generation checkpoint.
    """
    check_task(task)
    parse_options(task.algorithm)  # bad options are refused before a crew starts
    # `auto` needs a torch that can use Ray's GPUs
    plan = crew_plan(task).on_cluster(ray.cluster_resources().get("GPU", 0.0) if torch.version.cuda else 0.0)
    pool = CrewPool(store) if crews is None else crews
    try:
        with pool.crew(plan, task, should_stop, on_waiting, urgency) as crew:
            try:
                return crew.run(task, progress, should_stop, on_partial)
            except (MissingArtifact, DamagedArtifact) as error:
                if pool.cluster is not None and (blamed := pool.cluster.blame(crew.nodes, error, store)):
                    raise CrewLost(blamed) from error
                raise
    finally:
        if crews is None:
            pool.close()
