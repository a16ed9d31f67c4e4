"""The fused topology: every actor samples and learns, the driver only counts."""

from __future__ import annotations

from collections import deque
from typing import Any

from workers.crews.crew import Clock, Crew, Tell
from workers.crews.processes import FusedWorker, Report
from workers.crews.task import GenerationResult, GenerationTask, Progress

_CALLS_IN_FLIGHT = 2
"""Actors always have the next call at hand, so they never wait for the driver."""


class FusedCrew(Crew):
    """Best for models whose gradients are quickly averaged."""

    def _start_actors(self) -> None:
        actors = self._launch(FusedWorker, self.plan.rollout_actors)
        self._wait([actor.set_up.remote() for actor in actors])
        self._form_ring(actors)

    def _generation(self, task: GenerationTask, tell: Tell) -> GenerationResult:
        actors = self._actors
        self._wait([actor.prepare.remote(task, not self._warm) for actor in actors])
        clock = Clock()
        steps, metrics = self._train(task, tell, clock)
        metrics["steps_per_second"] = steps / clock.seconds
        done = Progress(steps=steps, target=task.steps, seconds=clock.seconds, metrics=metrics)
        self._play_out(tell, done, lambda units: [actor.play_out.remote(units) for actor in actors], clock.units)
        counts = self._wait([actor.counts.remote() for actor in actors])
        saved = self._wait([actor.finish.remote(steps, rank == 0) for rank, actor in enumerate(actors)])
        return self._result(task, saved[0], steps, counts, metrics)

    def _train(self, task: GenerationTask, tell: Tell, clock: Clock) -> tuple[int, dict[str, float]]:
        updates_left = self._updates(task)
        steps, metrics = 0, dict[str, float]()
        flying: deque[tuple[int, list[Any]]] = deque()
        while updates_left or flying:
            while updates_left and len(flying) < _CALLS_IN_FLIGHT:
                updates = min(clock.units, updates_left)
                updates_left -= updates
                flying.append((updates, [actor.advance.remote(updates) for actor in self._actors]))
            updates, refs = flying.popleft()
            reports: list[Report] = self._wait(refs)
            clock.took(updates)
            steps += sum(report.steps for report in reports)
            metrics = reports[0].metrics
            tell(Progress(steps=steps, target=task.steps, seconds=clock.seconds, metrics=metrics))
        return steps, metrics
