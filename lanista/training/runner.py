"""Where the generations of a run are computed: in this process, or on a local Ray."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from orchestrator.contracts.generations import GenerationOutcome, GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from workers.crews.crew import OnProgress
from workers.crews.hosts.contract import ShouldStop
from workers.crews.local_generation import LocalCrews

RunGeneration = Callable[[GenerationTask, OnProgress, ShouldStop], GenerationOutcome]


def runner(store: ArtifactStore, folders: Sequence[Path], *, ray: bool) -> RunGeneration:
    """Runs generations one after the other; data sets are read from `folders`."""
    if ray:
        from lanista.training.ray_generations import ray_generations  # imports Ray, which one process does without

        return ray_generations(store, folders)
    crews = LocalCrews(store, folders)

    def run(task: GenerationTask, progress: OnProgress, should_stop: ShouldStop) -> GenerationOutcome:
        return crews.run_generation(task, progress=progress, should_stop=should_stop)

    return run
