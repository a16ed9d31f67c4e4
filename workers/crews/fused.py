"""The fused topology: every actor samples and trains; the driver only schedules calls and counts steps."""

from __future__ import annotations

from collections import deque
from typing import Any

from orchestrator.contracts.generations import GenerationOutcome, GenerationTask
from workers.algorithms.metrics import MetricMeans
from workers.crews.actors import FusedActor
from workers.crews.call_timer import CallTimer
from workers.crews.crew import Crew, OnProgress
from workers.crews.hosts.contract import ActorHandle
from workers.crews.messages import CallReport
from workers.crews.task import Progress

_CALLS_IN_FLIGHT = 2
"""Calls queued at every actor, so that no actor waits for the driver."""


class FusedCrew(Crew):
    """Best for models whose gradients are quick to all-reduce."""

    def _start_actors(self) -> None:
        actors = self._launch(FusedActor, self.plan.rollout_actors, self.plan.rollout_bundle)
        self._wait([actor.set_up.remote() for actor in actors])
        self._connect_all_reduce(actors)

    @property
    def _training_actors(self) -> list[ActorHandle]:
        return self._actors

    def _generation(self, task: GenerationTask, on_progress: OnProgress) -> GenerationOutcome:
        actors = self._actors
        self._wait([actor.prepare.remote(task, not self._learner_loaded) for actor in actors])
        timer = CallTimer()
        steps, metrics = self._train(task, on_progress, timer)
        metrics["steps_per_second"] = steps / timer.seconds
        done = Progress(steps=steps, target=task.steps, seconds=timer.seconds, metrics=metrics)
        self._play_out(
            on_progress, done, lambda steps: [actor.play_out.remote(steps) for actor in actors], timer.next_units
        )
        counts = self._wait([actor.counts.remote() for actor in actors])
        saved, exact = self._save(actors, steps)
        return self._result(task, saved, steps, counts, metrics | exact)

    def _train(self, task: GenerationTask, on_progress: OnProgress, timer: CallTimer) -> tuple[int, dict[str, float]]:
        updates = updates_left = saved_at = self._updates(task)
        steps, means = 0, MetricMeans()
        in_flight: deque[tuple[int, list[Any]]] = deque()
        while updates_left or in_flight:
            # a partial checkpoint is stored when the calls under way are back
            saves = bool(updates_left) and updates_left != saved_at and self._partials.due
            while updates_left and not saves and len(in_flight) < _CALLS_IN_FLIGHT:
                units = min(timer.next_units, updates_left)
                updates_left -= units
                in_flight.append((units, [actor.advance.remote(units) for actor in self._actors]))
            if not in_flight:
                self._save_partial(task, updates - updates_left, steps, means.values(), self._actors)
                saved_at = updates_left
                continue
            units, refs = in_flight.popleft()
            reports: list[CallReport] = self._wait(refs)
            timer.returned(units)
            steps += sum(report.steps for report in reports)
            for report in reports:
                means.merge(report.metrics)
            on_progress(Progress(steps=steps, target=task.steps, seconds=timer.seconds, metrics=means.values()))
        return steps, means.values()
