"""Generations of a run on a local Ray, for trial files whose crews have several processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import ray

from orchestrator.contracts.generations import GenerationOutcome, GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from workers.crews.crew import OnProgress
from workers.crews.generation import run_generation
from workers.crews.hosts.contract import ShouldStop
from workers.crews.pool import CrewPool


def ray_generations(
    store: ArtifactStore, folders: Sequence[Path]
) -> Callable[[GenerationTask, OnProgress, ShouldStop], GenerationOutcome]:
    """Runs generations on Ray, which is started unless this process is connected to one."""
    if not ray.is_initialized():
        # actors import the user's modules from the same places as this process
        places = os.pathsep.join(map(str, folders[:-1]))
        paths = [places, *filter(None, [os.environ.get("PYTHONPATH")])]
        ray.init(
            address="local",
            include_dashboard=False,
            log_to_driver=False,
            runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(paths)}},
        )
    crews = CrewPool(store, data_folders=folders)

    def run(task: GenerationTask, progress: OnProgress, should_stop: ShouldStop) -> GenerationOutcome:
        return run_generation(task, store=store, progress=progress, should_stop=should_stop, crews=crews)

    return run
