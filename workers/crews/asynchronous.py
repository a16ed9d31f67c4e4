"""The asynchronous topology: rollout actors never wait for trainers, trainers take whatever batches have come.

See docs/decisions/crews.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from orchestrator.contracts.generations import GenerationTask
from workers.algorithms.metrics import MetricMeans
from workers.crews.call_timer import CallTimer
from workers.crews.crew import OnProgress
from workers.crews.hosts.contract import ActorHandle
from workers.crews.messages import CallReport
from workers.crews.partial import EXACT
from workers.crews.split import SplitCrew
from workers.crews.task import Progress

_CALLS_IN_FLIGHT = 2
"""Calls queued at every rollout actor, so that none waits for the driver."""


@dataclass
class _Flow:
    """What is under way in a generation. Lists are by trainer, except `queued`, which is by rollout actor."""

    weights: Any
    """The weights that rollout actors get."""
    newest: Any
    """Those of the last finished update."""
    publish_every: int
    left: list[int]
    """Batches that are still to be asked for."""
    arrived: list[deque[tuple[int, Any]]]
    """Batches that no update has taken yet, with the actor that played each."""
    queued: list[int]
    group: int
    """Rollout actors of each trainer."""
    most: int | None
    """The most batches that a trainer takes for one update; None: all that have come."""
    sampling: dict[Any, tuple[int, Any]] = field(default_factory=dict)
    """Calls under way: the actor and the batch of each."""
    training: set[Any] = field(default_factory=set)
    following: Any = None
    """The weights that the update under way will make."""
    updates: int = 0
    steps: int = 0
    means: MetricMeans = field(default_factory=MetricMeans)
    oldest: float = 0.0
    hold_at: int = 0
    """Ask for no more once so many batches are left for each trainer: a whole number of updates, before a partial
    checkpoint."""

    @property
    def drained(self) -> bool:
        """Whether all batches that were asked for have been learnt from, before a partial checkpoint."""
        return bool(self.hold_at and not (self.sampling or self.training or any(self.arrived))) and (
            set(self.left) == {self.hold_at}
        )

    @property
    def unfinished(self) -> bool:
        return bool(any(self.left) or self.sampling or self.training or any(self.arrived))


class AsynchronousCrew(SplitCrew):
    """IMPALA's architecture. What an update learns from depends on timing, so a generation is not reproducible."""

    def _train(
        self, task: GenerationTask, on_progress: OnProgress, timer: CallTimer, weights: Any
    ) -> tuple[Any, int, dict[str, float]]:
        trainers, actors = len(self._trainers), len(self._rollouts)
        flow = _Flow(
            weights,
            newest=weights,
            publish_every=task.publish_every,
            left=[self._updates(task) * actors // trainers] * trainers,
            arrived=[deque() for _ in range(trainers)],
            queued=[0] * actors,
            group=actors // trainers,
            # a replay buffer learns from every batch: without a limit, a slow trainer would publish ever more rarely
            most=actors // trainers if self._wait([self._trainers[0].remembers.remote()])[0] else None,
        )
        whole = flow.left[0]
        while flow.unfinished:
            if flow.drained:
                done = (whole - flow.hold_at) // flow.group
                self._save_partial(task, done, flow.steps, self._metrics(flow), self._rollouts)
                flow.hold_at = 0
            elif not flow.hold_at and self._partials.due:
                # below what is left, so that there is more to save; 0 near the end
                flow.hold_at = max(0, min(flow.left) - 1) // flow.group * flow.group
            self._ask(flow)
            self._learn(flow)
            call = self._wait_any([*flow.sampling, *flow.training])
            if call in flow.sampling:
                self._take_in(flow, call)
                continue
            self._publish(flow, call)
            progress = Progress(steps=flow.steps, target=task.steps, seconds=timer.seconds, metrics=flow.means.values())
            on_progress(progress)
        return flow.newest, flow.steps, self._metrics(flow)

    @staticmethod
    def _metrics(flow: _Flow) -> dict[str, float]:
        return flow.means.values() | {"sample_age_max": flow.oldest, EXACT: 0.0}

    def _ask(self, flow: _Flow) -> None:
        """Keep every rollout actor busy, with the newest weights there are."""
        for rank, actor in enumerate(self._rollouts):
            trainer = rank % len(self._trainers)
            while flow.left[trainer] > flow.hold_at and flow.queued[rank] < _CALLS_IN_FLIGHT:
                batch, steps = actor.sample.options(num_returns=2).remote(flow.weights)
                flow.sampling[steps] = rank, batch
                flow.queued[rank] += 1
                flow.left[trainer] -= 1

    def _take_in(self, flow: _Flow, call: Any) -> None:
        rank, batch = flow.sampling.pop(call)
        flow.queued[rank] -= 1
        flow.steps += self._host.results([call])[0]
        flow.arrived[rank % len(self._trainers)].append((rank, batch))

    def _learn(self, flow: _Flow) -> None:
        """Start an update if none is under way: each trainer takes as many batches, as have come for each of them."""
        count = min(map(len, flow.arrived))
        if flow.most is not None:
            count = min(count, flow.most)
        if flow.training or not count:
            return
        weights = []
        for trainer, arrived in zip(self._trainers, flow.arrived, strict=True):
            taken = [arrived.popleft() for _ in range(count)]
            slots = [rank // len(self._trainers) for rank, _ in taken]
            published, report = self._start_update(trainer, slots, [batch for _, batch in taken])
            weights.append(published)
            flow.training.add(report)
        flow.following = weights[0]

    @staticmethod
    def _start_update(trainer: ActorHandle, slots: list[int], batches: list[Any]) -> tuple[Any, Any]:
        calls: tuple[Any, Any] = trainer.train_arrived.options(num_returns=2).remote(slots, *batches)
        return calls

    def _publish(self, flow: _Flow, call: Any) -> None:
        """Take in a trainer's report. Weights are published when all trainers have ended the update, if it is due."""
        flow.training.remove(call)
        report: CallReport = self._host.results([call])[0]
        flow.means.merge(report.metrics)
        flow.oldest = max(flow.oldest, report.oldest)
        if not flow.training:
            flow.newest, flow.updates = flow.following, flow.updates + 1
            if flow.updates % flow.publish_every == 0:
                flow.weights = flow.newest

    def _wait_any(self, calls: Sequence[Any]) -> Any:
        """One of these calls that has ended; polls for a stop meanwhile."""
        while True:
            if self._should_stop():
                self._stop(calls)
            ready, _ = self._host.wait(calls)
            if ready:
                return ready[0]
