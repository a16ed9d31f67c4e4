"""Runs generations in this process, without Ray: the same driver and the same actors as on a crew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from orchestrator.contracts.generations import GenerationOutcome, GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from workers.algorithms.contract import parse_options
from workers.crews.asynchronous import AsynchronousCrew
from workers.crews.crew import Crew, OnProgress
from workers.crews.fused import FusedCrew
from workers.crews.hosts.contract import ShouldStop
from workers.crews.hosts.local_host import LocalHost
from workers.crews.partial import OnPartial
from workers.crews.plan import CrewPlan, crew_plan
from workers.crews.split import SplitCrew
from workers.crews.task import check_task


class LocalCrews:
    """Crews in this process, one for each plan; they keep learners and buffers between generations."""

    def __init__(self, store: ArtifactStore, data_folders: Sequence[Path] | None = None) -> None:
        """Data sets are read from `data_folders` only; None: from anywhere."""
        self._store = store
        self._data_folders = None if data_folders is None else tuple(data_folders)
        self._crews: list[Crew] = []

    def run_generation(
        self,
        task: GenerationTask,
        *,
        progress: OnProgress,
        should_stop: ShouldStop = lambda: False,
        on_partial: OnPartial | None = None,
    ) -> GenerationOutcome:
        """Train the task's learner for one generation; see `workers.crews.generation.run_generation`."""
        check_task(task)
        parse_options(task.algorithm)
        plan = crew_plan(task).on_cluster(float(torch.cuda.device_count()))
        return self._crew(plan).run(task, progress, should_stop, on_partial)

    def _crew(self, plan: CrewPlan) -> Crew:
        found = next((crew for crew in self._crews if crew.plan == plan and crew.has_actors), None)
        if found is None:
            kind = AsynchronousCrew if plan.asynchronous else SplitCrew if plan.split else FusedCrew
            found = kind(replace(plan, data_folders=self._data_folders), self._store, LocalHost())
            found.start(lambda: False, lambda what: None)
            self._crews.append(found)
        return found
