"""The split topology: rollout actors feed trainers, weights flow back, and both work at the same time."""

from __future__ import annotations

from collections import deque
from typing import Any

from workers.crews.crew import Actor, Clock, Crew, Tell
from workers.crews.processes import Report, RolloutWorker, TrainerWorker
from workers.crews.task import GenerationResult, GenerationTask, Progress

_AHEAD = 2
"""Updates given out before the first has come back; the trainer always has the next batch at hand."""


class SplitCrew(Crew):
    """Best for large models, whose gradients are slow to average. Samples are always one update old: batch k is
    played with the weights that came of batch k-2, whatever the timing, so that results stay exact."""

    _rollouts: list[Actor]
    _trainers: list[Actor]

    def _start_actors(self) -> None:
        self._trainers = self._launch(TrainerWorker, self.plan.trainers)
        self._rollouts = self._launch(RolloutWorker, self.plan.rollout_actors)
        self._wait([actor.set_up.remote() for actor in self._actors])
        self._form_ring(self._trainers)

    def _generation(self, task: GenerationTask, tell: Tell) -> GenerationResult:
        # Kept as references throughout: weights and samples never pass through the driver.
        prepared = [trainer.prepare.remote(task, not self._warm) for trainer in self._trainers]
        self._wait_only([*prepared, *(actor.prepare.remote(task) for actor in self._rollouts)])
        clock = Clock()
        weights, steps, metrics = self._train(task, tell, clock, prepared[0])
        metrics |= {"steps_per_second": steps / clock.seconds, "sample_age": 1.0}
        done = Progress(steps=steps, target=task.steps, seconds=clock.seconds, metrics=metrics)
        self._play_out(tell, done, lambda units: [a.play_out.remote(weights, units) for a in self._rollouts], 1)
        counts = self._wait([actor.counts.remote() for actor in self._rollouts])
        saved = self._wait([t.finish.remote(steps, rank == 0) for rank, t in enumerate(self._trainers)])
        return self._result(task, saved[0], steps, counts, metrics)

    def _train(self, task: GenerationTask, tell: Tell, clock: Clock, weights: Any) -> tuple[Any, int, dict[str, float]]:
        updates, steps, metrics = self._updates(task), 0, dict[str, float]()
        flying: deque[tuple[list[Any], list[Any]]] = deque()
        batches, taken = self._sample(weights)
        for number in range(1, updates + 1):
            following = self._sample(weights) if number < updates else ([], [])
            weights, reports = self._update(batches)
            flying.append((taken, reports))
            batches, taken = following
            while len(flying) > (_AHEAD if number < updates else 0):
                sampled, trained = flying.popleft()
                told: list[Report] = self._wait(trained)
                steps += sum(self._wait(sampled))
                metrics = told[0].metrics
                tell(Progress(steps=steps, target=task.steps, seconds=clock.seconds, metrics=metrics))
        return weights, steps, metrics

    def _sample(self, weights: Any) -> tuple[list[Any], list[Any]]:
        calls = [actor.sample.options(num_returns=2).remote(weights) for actor in self._rollouts]
        return [batch for batch, _ in calls], [steps for _, steps in calls]

    def _update(self, batches: list[Any]) -> tuple[Any, list[Any]]:
        """Share the batches out among the trainers; the first one's weights are everyone's."""
        calls: list[tuple[Any, Any]] = [
            trainer.train.options(num_returns=2).remote(*batches[rank :: len(self._trainers)])
            for rank, trainer in enumerate(self._trainers)
        ]
        return calls[0][0], [report for _, report in calls]
