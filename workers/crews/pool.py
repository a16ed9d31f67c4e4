"""Warm crews, kept between generations."""

from __future__ import annotations

import math
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
    """Lends crews by plan, from any thread. Idle crews are ended where a new one needs their CPUs."""

    def __init__(self, store: ArtifactStore, cpus: float = math.inf, most: int = 1) -> None:
        """`cpus`: what Ray has for crews; `most`: crews kept idle at once."""
        if most < 1:
            raise ValueError(f"a pool keeps at least 1 crew, not {most}")
        self._store = store
        self._cpus = cpus
        self._most = most
        self._idle: list[Crew] = []
        self._lent = 0
        """CPUs of the crews that are lent out now."""
        self._lock = threading.Lock()

    @contextmanager
    def crew(self, plan: CrewPlan, task: GenerationTask, should_stop: Ask) -> Iterator[Crew]:
        """A crew of this plan, best one that already holds the task's learner; handed back if it still stands."""
        crew: Crew | None = None
        try:
            crew = self._take(plan, task)
            if crew is None:
                crew = SplitCrew(plan, self._store) if plan.split else FusedCrew(plan, self._store)
                try:
                    crew.start(should_stop)
                except BaseException:
                    crew.close()
                    raise
            yield crew
        finally:
            self._give_back(plan, crew)

    def close(self) -> None:
        """End all idle crews."""
        with self._lock:
            idle, self._idle = self._idle, []
        for crew in idle:
            crew.close()

    def _take(self, plan: CrewPlan, task: GenerationTask) -> Crew | None:
        """An idle crew of the plan, or None once there is room for a new one."""
        wanted = task.learner.sha256 if task.learner is not None else None
        superfluous: list[Crew] = []
        with self._lock:
            self._lent += plan.cpus
            fitting = [crew for crew in self._idle if crew.plan == plan]
            if fitting:
                best = next((crew for crew in fitting if crew.live == wanted), fitting[0])
                self._idle.remove(best)
                return best
            while self._idle and (len(self._idle) >= self._most or self._held() > self._cpus):
                superfluous.append(self._idle.pop(0))
        for crew in superfluous:
            crew.close()
        return None

    def _held(self) -> int:
        return self._lent + sum(crew.plan.cpus for crew in self._idle)

    def _give_back(self, plan: CrewPlan, crew: Crew | None) -> None:
        with self._lock:
            self._lent -= plan.cpus
            if crew is not None and crew.stands and len(self._idle) < self._most:
                self._idle.append(crew)
                return
        if crew is not None:
            crew.close()
