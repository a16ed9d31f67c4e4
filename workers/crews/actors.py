"""The processes of a crew: fused actors, rollout actors and trainers. Ray hosts them; nothing here calls Ray."""

from __future__ import annotations

import os
import socket
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from league.types import CheckpointRef
from orchestrator.catalog import CatalogError
from orchestrator.contracts.generations import GenerationTask
from orchestrator.storage.artifacts import ArtifactError, ArtifactStore
from orchestrator.user_code.code_importing import import_archives_from
from workers.algorithms.building import build_learner
from workers.algorithms.contract import make_algorithm
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.metrics import MetricMeans
from workers.bots.protocol import BadBot
from workers.buffers.keeping import MovedBuffer
from workers.crews.all_reduce import GradientAllReduce, GroupMember, Rendezvous, this_process
from workers.crews.errors import BadTask, CrewError
from workers.crews.messages import CallReport, StoredBuffer, Weights
from workers.crews.part_times import PartTimes, ProcessParts
from workers.crews.partial import KIND as PARTIAL
from workers.crews.plan import CrewPlan
from workers.crews.rollout_context import RolloutContext, build_game
from workers.crews.training_context import TrainingContext, rollout_actor
from workers.games.errors import BadGame
from workers.models.contract import BadModel, see_raw_images, sees_raw_images
from workers.rollout.batch import Experience, merge
from workers.rollout.remote import RemoteSampler
from workers.rollout.sampler import Sampler
from workers.rollout.tally import Counts
from workers.user_errors import raises_user_errors

EXPLAINED_ERRORS = (CrewError, BadGame, BadModel, BadAlgorithm, BadBot, CatalogError, ArtifactError)
"""Errors whose message already says what is wrong; they pass `set_up` unchanged."""


class CrewActor(ABC):
    """Base of all actors: a fixed number of torch threads, and the all-reduce group if several processes train."""

    def __init__(self, plan: CrewPlan, store: ArtifactStore, rank: int) -> None:
        import_archives_from(store)  # own code is imported from its archive
        self._plan, self._store, self._rank = plan, store, rank
        self._times = PartTimes()
        self._all_reduce = (
            GradientAllReduce(rank, plan.learners, cuda=plan.resources.device == "cuda") if plan.learners > 1 else None
        )

    def set_up(self) -> None:
        """Make the game and the model. Not in the constructor: Ray reports an error there as a dead actor."""
        # Floating-point sums depend on the number of threads.
        torch.set_num_threads(self._plan.threads)
        self._check_devices()
        try:
            self._build()
        except (*EXPLAINED_ERRORS, OSError, MemoryError):
            raise
        except Exception as error:
            # The user's game or model raised: a retry would raise again.
            raise BadTask(f"the crew cannot be set up: {type(error).__name__}: {error}") from error

    def _check_devices(self) -> None:
        resources = self._plan.resources
        if "cuda" in (resources.device, resources.samples_on) and not torch.cuda.is_available():
            raise BadTask(
                f"device cuda: torch {torch.__version__} sees no GPU in a process of the crew; it needs a build of "
                "torch for CUDA and a driver on the node"
            )

    @abstractmethod
    def _build(self) -> None:
        """Make the game, the model and whatever else this actor works with."""

    def pid(self) -> int:
        """The process id."""
        return os.getpid()

    def part_times(self) -> ProcessParts:
        """How long each part of the newest generation took here."""
        process = f"{type(self).__name__} {self._rank}"
        return ProcessParts(process=process, host=socket.gethostname(), pid=os.getpid(), parts=self._times.parts())

    def member(self) -> GroupMember:
        """Where this process runs."""
        return this_process()

    def host_all_reduce(self, members: Sequence[GroupMember], shared_memory: bool) -> Rendezvous:
        """Open the rendezvous of the all-reduce group; called on rank 0."""
        assert self._all_reduce is not None
        return self._all_reduce.host(members, shared_memory=shared_memory)

    def join_all_reduce(self, rendezvous: Rendezvous) -> str | None:
        """Join the all-reduce group; returns why memory cannot be shared."""
        assert self._all_reduce is not None
        return self._all_reduce.join(rendezvous)


class TrainingActor(CrewActor):
    """Base of the actors that train."""

    _training: TrainingContext

    def stop(self) -> None:
        """End the calls under way and those queued behind them; runs beside them, in a thread of its own."""
        self._training.stop()

    def hand_over(self, player: str) -> MovedBuffer | None:
        """Give up the player's buffer, for another crew."""
        return self._training.hand_over(player)

    def take_over(self, player: str, moved: MovedBuffer) -> None:
        """Hold a buffer that another crew has given up."""
        self._training.take_over(player, moved)

    def learn(self, updates: int) -> MetricMeans:
        """Train this many times on what the buffer holds; for algorithms that play no games."""
        metrics = MetricMeans()
        for _ in range(updates):
            with self._times.part("update"):
                self._training.learn(metrics)
        return metrics

    def store_buffer(self) -> StoredBuffer:
        """Store this process's buffer if it is kept."""
        with self._times.part("upload"):
            return StoredBuffer(where=self._training.store_buffer(), exact=self._training.exact)

    def save(self, steps: int, buffers: Sequence[StoredBuffer]) -> CheckpointRef:
        """End the generation after `steps` steps of the whole crew and store the checkpoint; called on rank 0."""
        self._training.count_steps(steps)
        with self._times.part("upload"):
            saved = self._training.save([buffer.where for buffer in buffers])
        self._training.finished(saved)
        return saved

    def save_partial(self, steps: int, buffers: Sequence[StoredBuffer]) -> CheckpointRef:
        """Store the learner in the middle of a generation, after `steps` steps of the whole crew; called on rank 0."""
        with self._times.part("upload"):
            return self._training.save([buffer.where for buffer in buffers], kind=PARTIAL, further_steps=steps)

    def continue_from(self, partial: CheckpointRef) -> None:
        """Go on with the generation, whose partial checkpoint rank 0 has stored."""
        self._training.continue_from(partial)

    def finish(self, steps: int, saved: CheckpointRef) -> None:
        """End the generation, which rank 0 has saved."""
        self._training.count_steps(steps)
        self._training.finished(saved)


@raises_user_errors
class FusedActor(TrainingActor):
    """Samples and trains in turn; gradients are all-reduced over the crew."""

    _sampler: Sampler | RemoteSampler

    def _build(self) -> None:
        self._rollout = RolloutContext(self._plan, self._store, self._rank)
        self._training = TrainingContext(self._plan, self._store, self._rollout.game, self._all_reduce, self._times)

    def prepare(self, task: GenerationTask, reload: bool) -> None:
        """Reset the tables and load the task's learner."""
        self._times.reset()
        with self._times.part("load"):
            self._training.prepare(task, reload, self._rank)
            if self._training.algorithm.plays:
                learner = self._training.learner
                self._sampler = self._rollout.sampler(
                    task, self._training.actor(), self._training.algorithm, learner.nets, learner.raise_if_stopped
                )

    def advance(self, updates: int) -> CallReport:
        """Sample and train this many times."""
        if not self._training.algorithm.plays:
            steps = updates * self._training.algorithm.options.rollout_steps * self._plan.tables
            return CallReport(steps=steps, metrics=self.learn(updates))
        before = self._sampler.steps
        metrics = MetricMeans()
        for _ in range(updates):
            self._training.learner.raise_if_stopped()
            rate = self._training.explore(self._sampler.steps * self._plan.rollout_actors)
            self._sampler.explore = self._rollout.explore(self._training.algorithm, rate)
            self._sampler.acted_by = self._training.learner.updates
            with self._times.part("rollout"):
                batch = self._sampler.collect()
            with self._times.part("update"):
                self._training.update([batch], metrics)
        return CallReport(steps=self._sampler.steps - before, metrics=metrics)

    def play_out(self, steps: int) -> int:
        """Play up to this many steps of the games still to be counted; returns how many games are left."""
        with self._times.part("play out"):
            return self._sampler.play_out(steps)

    def counts(self) -> Counts:
        """The games counted in this generation."""
        return self._sampler.board.counts()


@raises_user_errors
class RolloutActor(CrewActor):
    """Samples with the weights it is given."""

    _sampler: Sampler | RemoteSampler

    def _build(self) -> None:
        self._rollout = RolloutContext(self._plan, self._store, self._rank)

    def prepare(self, task: GenerationTask) -> None:
        """Reset the tables."""
        self._times.reset()
        with self._times.part("load"):
            self._prepare(task)

    def _prepare(self, task: GenerationTask) -> None:
        algorithm = self._algorithm = make_algorithm(task.algorithm)
        learner = build_learner(algorithm, self._plan.model, self._rollout.game.spec, task.seed)
        learner.to(torch.device(self._plan.resources.samples_on))
        learner.nets.eval()
        self._nets = learner.nets
        actor = rollout_actor(algorithm, learner.all_nets(), self._plan)
        self._sampler = self._rollout.sampler(task, actor, algorithm, learner.nets)

    def sample(self, weights: Weights) -> tuple[Experience, int]:
        """One batch under these weights, and the environment steps it took."""
        self._load(weights)
        before = self._sampler.steps
        with self._times.part("rollout"):
            batch = self._sampler.collect()
        return batch, self._sampler.steps - before

    def play_out(self, weights: Weights, steps: int) -> int:
        """See `FusedActor.play_out`."""
        self._load(weights)
        with self._times.part("play out"):
            return self._sampler.play_out(steps)

    def counts(self) -> Counts:
        """The games counted in this generation."""
        return self._sampler.board.counts()

    def _load(self, weights: Weights) -> None:
        with self._times.part("weights"):
            # Copied: arrays from Ray's object store are read-only.
            self._nets.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in weights.arrays.items()})
        for net in self._nets.values():
            see_raw_images(net, weights.raw_images)
        self._sampler.explore = self._rollout.explore(self._algorithm, weights.explore)
        self._sampler.acted_by = weights.updates


@raises_user_errors
class TrainerActor(TrainingActor):
    """Trains on the batches of rollout actors."""

    def _build(self) -> None:
        # Batches lie in Ray's object store, read-only; training only reads them.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        self._training = TrainingContext(
            self._plan, self._store, build_game(self._plan.game, 1), self._all_reduce, self._times
        )

    def prepare(self, task: GenerationTask, reload: bool) -> Weights:
        """Load the task's learner; returns the weights to sample with."""
        self._times.reset()
        with self._times.part("load"):
            self._training.prepare(task, reload, self._rank)
        self._trained = 0.0
        self._group = task.rollout_actors // task.trainers
        self._published: list[int] = []
        self._update_steps = self._training.algorithm.options.rollout_steps * task.tables * task.rollout_actors
        return self._weights()

    def remembers(self) -> bool:
        """Whether the buffer keeps past experience."""
        return self._training.buffer.remembers

    def train(self, *batches: Experience) -> tuple[Weights, CallReport]:
        """Train on these batches, merged into one; returns the new weights."""
        metrics = MetricMeans()
        with self._times.part("update"):
            self._training.update([merge(batches)], metrics)
        self._trained += 1
        return self._weights(), CallReport(metrics=metrics)

    def train_arrived(self, slots: Sequence[int], *batches: Experience) -> tuple[Weights, CallReport]:
        """Train on batches that have come from some of this trainer's rollout actors, the oldest first.

        Where a buffer remembers, all go into it, and gradient steps are in proportion to them. Otherwise no more are
        used than one of each actor, the newest, so that a slow trainer does not fall behind further; the metric
        `dropped_batches` counts the others.
        """
        metrics = MetricMeans()
        share = len(batches) / self._group
        self._trained += share
        if self._training.buffer.remembers:
            used = [_of_slot(batch, slot, self._group) for slot, batch in zip(slots, batches, strict=True)]
        else:
            metrics.add({"dropped_batches": max(0, len(batches) - self._group)}, 1, {"dropped_batches"})
            used, share = [merge(batches[-self._group :])], min(1.0, share)
        ages = np.concatenate([self._ages(batch) for batch in used])
        metrics.add({"sample_age": float(ages.mean())}, len(ages))
        with self._times.part("update"):
            self._training.update(used, metrics, share)
        return self._weights(), CallReport(metrics=metrics, oldest=float(ages.max()))

    def _ages(self, batch: Experience) -> NDArray[np.int64]:
        """By how many updates each decision is older than the present weights."""
        published = np.searchsorted(self._published, batch.acted_by, side="right")
        ages: NDArray[np.int64] = len(self._published) - published
        return ages

    def _weights(self) -> Weights:
        learner = self._training.learner
        with self._times.part("weights"):
            arrays = {name: tensor.detach().cpu().clone().numpy() for name, tensor in learner.nets.state_dict().items()}
        explore = self._training.explore(round(self._trained * self._update_steps))
        self._published.append(learner.updates)
        raw = sees_raw_images(learner.model)
        return Weights(arrays=arrays, explore=explore, updates=learner.updates, raw_images=raw)


def _of_slot(batch: Experience, slot: int, slots: int) -> Experience:
    """The batch of one of several rollout actors, with table numbers of its own, whatever batch comes beside it."""
    streams = batch.streams + slot * batch.tables * len(batch.teams)
    return replace(batch, streams=streams, tables=slots * batch.tables)
