"""Warm crews, kept between generations."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.artifacts import ArtifactStore
from workers.crews.crew import Ask, Crew
from workers.crews.fused import FusedCrew
from workers.crews.member import CrewPlan
from workers.crews.split import SplitCrew
from workers.crews.task import GenerationTask


class CrewPool:
    """Lends crews by plan, from any thread. An idle crew of another plan is ended to make room for a new one."""

    def __init__(self, store: ArtifactStore, most: int = 1) -> None:
        """`most`: crews kept idle; as many as Ray has room for."""
        if most < 1:
            raise ValueError(f"a pool keeps at least 1 crew, not {most}")
        self._store = store
        self._most = most
        self._idle: list[Crew] = []
        self._lock = threading.Lock()

    @contextmanager
    def crew(self, plan: CrewPlan, task: GenerationTask, should_stop: Ask) -> Iterator[Crew]:
        """A crew of this plan, best one that already holds the task's learner; handed back if it still stands."""
        crew = self._take(plan, task)
        if crew is None:
            crew = SplitCrew(plan, self._store) if plan.split else FusedCrew(plan, self._store)
            try:
                crew.start(should_stop)
            except BaseException:
                crew.close()
                raise
        try:
            yield crew
        finally:
            self._give_back(crew)

    def close(self) -> None:
        """End all idle crews."""
        with self._lock:
            idle, self._idle = self._idle, []
        for crew in idle:
            crew.close()

    def _take(self, plan: CrewPlan, task: GenerationTask) -> Crew | None:
        wanted = task.learner.sha256 if task.learner is not None else None
        with self._lock:
            fitting = [crew for crew in self._idle if crew.plan == plan]
            if fitting:
                best = next((crew for crew in fitting if crew.live == wanted), fitting[0])
                self._idle.remove(best)
                return best
            superfluous = self._idle.pop(0) if len(self._idle) >= self._most else None
        if superfluous is not None:
            superfluous.close()
        return None

    def _give_back(self, crew: Crew) -> None:
        with self._lock:
            if crew.stands and len(self._idle) < self._most:
                self._idle.append(crew)
                return
        crew.close()
