"""Warm crews, kept between generations."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from orchestrator.artifacts import ArtifactStore
from workers.crews.crew import Ask, Crew, Waits
from workers.crews.fused import FusedCrew
from workers.crews.member import CrewPlan
from workers.crews.split import SplitCrew
from workers.crews.task import GenerationTask

PATIENCE_SECONDS = 1.0
"""A new crew that waits this long for CPUs is given those of idle crews."""


class CrewPool:
    """Lends crews by plan, from any thread. Idle crews are ended where a new one needs their CPUs, and after a while:
    another driver of the same Ray may need them, and cannot ask."""

    def __init__(
        self,
        store: ArtifactStore,
        cpus: Callable[[], float] = lambda: math.inf,
        most: int = 1,
        idle_seconds: float = math.inf,
    ) -> None:
        """`cpus`: what Ray has for crews; `most`: crews kept idle at once; `idle_seconds`: how long."""
        if most < 1:
            raise ValueError(f"a pool keeps at least 1 crew, not {most}")
        self._store = store
        self._cpus = cpus
        self._most = most
        self._idle_seconds = idle_seconds
        self._idle: list[Crew] = []
        self._endings: dict[Crew, threading.Timer] = {}
        self._lent = 0
        """CPUs of the crews that are lent out now."""
        self._lock = threading.Lock()

    @contextmanager
    def crew(
        self, plan: CrewPlan, task: GenerationTask, should_stop: Ask, waits: Waits = lambda: None
    ) -> Iterator[Crew]:
        """A crew of this plan, best one that already holds the task's learner; handed back if it still stands."""
        crew: Crew | None = None
        try:
            crew = self._take(plan, task)
            if crew is None:
                crew = SplitCrew(plan, self._store) if plan.split else FusedCrew(plan, self._store)
                try:
                    crew.start(should_stop, self._making_room(waits))
                except BaseException:
                    crew.close()
                    raise
            yield crew
        finally:
            self._give_back(plan, crew)

    def close(self) -> None:
        """End all idle crews."""
        with self._lock:
            idle = [self._no_longer_idle(crew) for crew in list(self._idle)]
        for crew in idle:
            crew.close()

    def _making_room(self, waits: Waits) -> Waits:
        """Tells that it waits, and gives idle crews' CPUs to a crew that waits for long: others hold the rest."""
        began = time.monotonic()

        def waiting() -> None:
            waits()
            if time.monotonic() - began > PATIENCE_SECONDS:
                self.close()

        return waiting

    def _take(self, plan: CrewPlan, task: GenerationTask) -> Crew | None:
        """An idle crew of the plan, or None once there is room for a new one."""
        wanted = task.learner.sha256 if task.learner is not None else None
        superfluous: list[Crew] = []
        cpus = self._cpus()
        with self._lock:
            self._lent += plan.cpus
            fitting = [crew for crew in self._idle if crew.plan == plan]
            if fitting:
                best = next((crew for crew in fitting if crew.live == wanted), fitting[0])
                return self._no_longer_idle(best)
            while self._idle and (len(self._idle) >= self._most or self._held() > cpus):
                superfluous.append(self._no_longer_idle(self._idle[0]))
        for crew in superfluous:
            crew.close()
        return None

    def _held(self) -> int:
        return self._lent + sum(crew.plan.cpus for crew in self._idle)

    def _give_back(self, plan: CrewPlan, crew: Crew | None) -> None:
        with self._lock:
            self._lent -= plan.cpus
            if crew is not None and crew.stands and len(self._idle) < self._most:
                self._now_idle(crew)
                return
        if crew is not None:
            crew.close()

    def _now_idle(self, crew: Crew) -> None:
        self._idle.append(crew)
        if math.isfinite(self._idle_seconds):
            ending = threading.Timer(self._idle_seconds, self._end_unused, [crew])
            ending.daemon = True
            self._endings[crew] = ending
            ending.start()

    def _no_longer_idle(self, crew: Crew) -> Crew:
        self._idle.remove(crew)
        ending = self._endings.pop(crew, None)
        if ending is not None:
            ending.cancel()
        return crew

    def _end_unused(self, crew: Crew) -> None:
        with self._lock:
            # a timer that had fired already when the crew was taken must not end a later idleness
            if self._endings.get(crew) is not threading.current_thread():
                return
            self._no_longer_idle(crew)
        crew.close()
