"""A pool of warm crews, kept between generations.

See docs/decisions/crews.md.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from orchestrator.artifacts import ArtifactStore
from workers.crews.crew import Crew, OnWaiting, ShouldStop
from workers.crews.fused import FusedCrew
from workers.crews.plan import CrewPlan
from workers.crews.split import SplitCrew
from workers.crews.task import GenerationTask

EVICT_AFTER_SECONDS = 1.0
"""A new crew that has waited this long for CPUs gets those of idle crews."""


class CrewPool:
    """Lends crews by plan; thread-safe.

    An idle crew is closed where a new one needs its CPUs, and after `idle_seconds`: another driver of the same Ray
    cluster may need the CPUs, and cannot ask for them.
    """

    def __init__(
        self,
        store: ArtifactStore,
        cpus: Callable[[], float] = lambda: math.inf,
        max_idle: int = 1,
        idle_seconds: float = math.inf,
    ) -> None:
        """`cpus` counts Ray's CPUs; at most `max_idle` idle crews are kept, each for `idle_seconds`."""
        if max_idle < 1:
            raise ValueError(f"max_idle must be at least 1, not {max_idle}")
        self._store = store
        self._cpus = cpus
        self._max_idle = max_idle
        self._idle_seconds = idle_seconds
        self._idle: list[Crew] = []
        self._timers: dict[Crew, threading.Timer] = {}
        self._lent = 0
        """CPUs of the crews lent out now."""
        self._lock = threading.Lock()

    @contextmanager
    def crew(
        self, plan: CrewPlan, task: GenerationTask, should_stop: ShouldStop, on_waiting: OnWaiting = lambda: None
    ) -> Iterator[Crew]:
        """Lend a crew of this plan, preferably one that holds the task's learner; it is taken back if still usable."""
        crew: Crew | None = None
        try:
            crew = self._take(plan, task)
            if crew is None:
                crew = SplitCrew(plan, self._store) if plan.split else FusedCrew(plan, self._store)
                try:
                    crew.start(should_stop, self._evicting_idle(on_waiting))
                except BaseException:
                    crew.close()
                    raise
            yield crew
        finally:
            self._give_back(plan, crew)

    def close(self) -> None:
        """Close all idle crews."""
        with self._lock:
            idle = [self._remove_idle(crew) for crew in list(self._idle)]
        for crew in idle:
            crew.close()

    def _evicting_idle(self, on_waiting: OnWaiting) -> OnWaiting:
        """`on_waiting`, which also closes all idle crews once the new crew has waited EVICT_AFTER_SECONDS."""
        began = time.monotonic()

        def waiting() -> None:
            on_waiting()
            if time.monotonic() - began > EVICT_AFTER_SECONDS:
                self.close()

        return waiting

    def _take(self, plan: CrewPlan, task: GenerationTask) -> Crew | None:
        """An idle crew of the plan; or None, after closing idle crews whose CPUs a new crew needs."""
        wanted = task.learner.sha256 if task.learner is not None else None
        evicted: list[Crew] = []
        cpus = self._cpus()
        with self._lock:
            self._lent += plan.cpus
            fitting = [crew for crew in self._idle if crew.plan == plan]
            if fitting:
                best = next((crew for crew in fitting if crew.loaded_sha256 == wanted), fitting[0])
                return self._remove_idle(best)
            while self._idle and (len(self._idle) >= self._max_idle or self._held() > cpus):
                evicted.append(self._remove_idle(self._idle[0]))
        for crew in evicted:
            crew.close()
        return None

    def _held(self) -> int:
        return self._lent + sum(crew.plan.cpus for crew in self._idle)

    def _give_back(self, plan: CrewPlan, crew: Crew | None) -> None:
        with self._lock:
            self._lent -= plan.cpus
            if crew is not None and crew.has_actors and len(self._idle) < self._max_idle:
                self._add_idle(crew)
                return
        if crew is not None:
            crew.close()

    def _add_idle(self, crew: Crew) -> None:
        self._idle.append(crew)
        if math.isfinite(self._idle_seconds):
            timer = threading.Timer(self._idle_seconds, self._close_unused, [crew])
            timer.daemon = True
            self._timers[crew] = timer
            timer.start()

    def _remove_idle(self, crew: Crew) -> Crew:
        self._idle.remove(crew)
        timer = self._timers.pop(crew, None)
        if timer is not None:
            timer.cancel()
        return crew

    def _close_unused(self, crew: Crew) -> None:
        with self._lock:
            # a timer that had already fired when the crew was lent must not close it in its next idle time
            if self._timers.get(crew) is not threading.current_thread():
                return
            self._remove_idle(crew)
        crew.close()
