"""The split topology: rollout actors sample while trainers learn; weights flow back after every update."""

from __future__ import annotations

from collections import deque
from typing import Any

from orchestrator.contracts.generations import GenerationOutcome, GenerationTask
from workers.algorithms.metrics import MetricMeans
from workers.crews.actors import RolloutActor, TrainerActor
from workers.crews.call_timer import CallTimer
from workers.crews.crew import Crew, OnProgress
from workers.crews.hosts.contract import ActorHandle
from workers.crews.messages import CallReport
from workers.crews.task import Progress

_AHEAD = 2
"""Updates queued before the first has come back, so that trainers never wait for the driver."""


class SplitCrew(Crew):
    """Best for large models, whose gradients are slow to all-reduce.

    Samples are always one update old: batch k is played with the weights after batch k-2, whatever the timing, so that
    results are reproducible.
    """

    _rollouts: list[ActorHandle]
    _trainers: list[ActorHandle]

    def _start_actors(self) -> None:
        self._trainers = self._launch(TrainerActor, self.plan.trainers, self.plan.trainer_bundle)
        self._rollouts = self._launch(RolloutActor, self.plan.rollout_actors, self.plan.rollout_bundle)
        self._wait([actor.set_up.remote() for actor in self._actors])
        self._connect_all_reduce(self._trainers)

    @property
    def _training_actors(self) -> list[ActorHandle]:
        return self._trainers

    def _generation(self, task: GenerationTask, on_progress: OnProgress) -> GenerationOutcome:
        # Only object references are handled here: weights and samples never pass through the driver.
        prepared = [trainer.prepare.remote(task, not self._learner_loaded) for trainer in self._trainers]
        self._wait_only([*prepared, *(actor.prepare.remote(task) for actor in self._rollouts)])
        timer = CallTimer()
        weights, steps, metrics = self._train(task, on_progress, timer, prepared[0])
        metrics |= {"steps_per_second": steps / timer.seconds}
        done = Progress(steps=steps, target=task.steps, seconds=timer.seconds, metrics=metrics)
        self._play_out(on_progress, done, lambda steps: [a.play_out.remote(weights, steps) for a in self._rollouts], 1)
        counts = self._wait([actor.counts.remote() for actor in self._rollouts])
        saved, exact = self._save(self._trainers, steps)
        return self._result(task, saved, steps, counts, exact | metrics)

    def _train(
        self, task: GenerationTask, on_progress: OnProgress, timer: CallTimer, weights: Any
    ) -> tuple[Any, int, dict[str, float]]:
        updates, steps, means = self._updates(task), 0, MetricMeans()
        in_flight: deque[tuple[list[Any], list[Any]]] = deque()
        batches, taken = self._sample(weights)
        for number in range(1, updates + 1):
            # a partial checkpoint counts no game of a later batch: that batch is played after it, with the same weights
            saves, before = number < updates and self._partials.due, weights
            following = self._sample(before) if number < updates and not saves else ([], [])
            weights, reports = self._update(batches)
            in_flight.append((taken, reports))
            while len(in_flight) > (_AHEAD if number < updates and not saves else 0):
                sampled, trained = in_flight.popleft()
                reported: list[CallReport] = self._wait(trained)
                for report in reported:
                    means.merge(report.metrics)
                steps += sum(self._wait(sampled))
                on_progress(Progress(steps=steps, target=task.steps, seconds=timer.seconds, metrics=means.values()))
            if saves:
                self._save_partial(task, number, steps, means.values(), self._rollouts)
                following = self._sample(before)
            batches, taken = following
        return weights, steps, means.values() | {"sample_age": 1.0}

    def _sample(self, weights: Any) -> tuple[list[Any], list[Any]]:
        calls = [actor.sample.options(num_returns=2).remote(weights) for actor in self._rollouts]
        return [batch for batch, _ in calls], [steps for _, steps in calls]

    def _update(self, batches: list[Any]) -> tuple[Any, list[Any]]:
        """Divide the batches among the trainers; all trainers end with the same weights, so rank 0's are used."""
        calls: list[tuple[Any, Any]] = [
            trainer.train.options(num_returns=2).remote(*batches[rank :: len(self._trainers)])
            for rank, trainer in enumerate(self._trainers)
        ]
        return calls[0][0], [report for _, report in calls]
