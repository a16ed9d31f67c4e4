"""What a training process keeps between generations: a learner, its algorithm and the players' buffers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from league.types import CheckpointRef
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from workers.algorithms.building import acts_by_itself, build_learner
from workers.algorithms.contract import Algorithm, algorithm_class, make_algorithm, parse_options
from workers.algorithms.learner import Learner
from workers.algorithms.metrics import MetricMeans
from workers.buffers.contract import Buffer
from workers.buffers.keeping import MovedBuffer, PlayerBuffers
from workers.buffers.storing import store
from workers.checkpoints import KIND, Checkpoint, CheckpointMismatch, load, save
from workers.crews.all_reduce import GradientAllReduce
from workers.crews.part_times import PartTimes
from workers.crews.plan import CrewPlan
from workers.games.names import make_game
from workers.games.protocol import GameSpec, VectorGame
from workers.inference.actor import Actor
from workers.models.contract import encode, see_raw_images, sees_raw_images
from workers.models.encoding import to_device, to_tensors
from workers.models.normalised import Normalised
from workers.rollout.batch import Experience
from workers.rollout.finite import explain_not_finite
from workers.user_errors import NotFinite

_AUTOCAST = {None: None, "bf16": torch.bfloat16}


class TrainingContext:
    """The training side of one process. Its learner is kept after a generation, so a warm crew loads nothing."""

    learner: Learner
    algorithm: Algorithm
    buffer: Buffer

    def __init__(
        self,
        plan: CrewPlan,
        artifacts: ArtifactStore,
        game: VectorGame,
        all_reduce: GradientAllReduce | None,
        times: PartTimes | None = None,
    ) -> None:
        self._plan, self._store, self._game = plan, artifacts, game
        self._times = times or PartTimes()
        self._all_reduce = all_reduce
        self._rows = 1
        self._share = 1.0
        self._rng = np.random.default_rng(0)
        self._steps = 0
        self._seed = 0
        self._made_for: Component | None = None
        self._player = ""
        self._copies: dict[str, nn.Module] = {}
        self._buffers = PlayerBuffers(artifacts, plan.buffer_bytes)
        self._stop_asked = threading.Event()

    def prepare(self, task: GenerationTask, reload: bool, rank: int) -> None:
        """Load the task's learner and make its algorithm; `reload` is False when this process holds the learner."""
        self._stop_asked.clear()
        options = parse_options(task.algorithm)
        if algorithm_class(task.algorithm).plays:
            self._rows = expected_rows(task, self._game.spec, options.rollout_steps)
        else:
            self._rows = options.rollout_steps * task.tables * task.rollout_actors
        self.algorithm = make_algorithm(task.algorithm, self._rows, self._plan.learners)
        self.algorithm.data_folders = self._plan.data_folders
        self._share = 1.0
        self._sampled = 0
        self._load(task, reload)
        torch.manual_seed(task.seed)
        self._seed = task.seed
        self._rng = np.random.default_rng([task.seed, 4, rank])
        self._player = task.player
        self.buffer = self._buffers.open(
            task.player,
            task.algorithm,
            None if task.checkpoint is None else task.checkpoint.sha256,
            lambda: self.algorithm.buffer(self._game.spec),
            lambda: self._kept_buffer(task, rank),
        )

    def stop(self) -> None:
        """End the update under way after its present gradient step, and those to come; called by another thread."""
        self._stop_asked.set()

    def store_buffer(self) -> dict[str, Any] | None:
        """Store the buffer if it is kept; returns where it is."""
        return store(self._store, self.buffer.state()) if self.buffer.kept else None

    def continue_from(self, partial: CheckpointRef) -> None:
        """The generation has stored this mid-generation checkpoint, and goes on."""
        self._buffers.belongs_to(self._player, partial.sha256)

    def finished(self, checkpoint: CheckpointRef) -> None:
        """The generation ended with this checkpoint: the player's buffer belongs to it from now on."""
        self._buffers.close(self._player, checkpoint.sha256)

    def hand_over(self, player: str) -> MovedBuffer | None:
        """See `PlayerBuffers.hand_over`."""
        return self._buffers.hand_over(player)

    def take_over(self, player: str, moved: MovedBuffer) -> None:
        """See `PlayerBuffers.take_over`."""
        self._buffers.take_over(player, moved)

    @property
    def exact(self) -> bool | None:
        """Whether the generation is a function of its task alone; None where that needs no word."""
        return self.buffer.kept if self.buffer.remembers else None

    def actor(self) -> Actor:
        """Decides with the learner's networks as they are at the time.

        Where rollouts use another device, it has copies there, which every update renews.
        """
        nets, samples_on = self.learner.all_nets(), torch.device(self._plan.resources.samples_on)
        self._copies = {}
        if samples_on != self.learner.device:
            nets = self._copies = {name: deepcopy(net).to(samples_on).eval() for name, net in nets.items()}
        return rollout_actor(self.algorithm, nets, self._plan)

    def explore(self, steps: int) -> float:
        """The exploration rate after this many steps of the generation, of the whole crew."""
        self._sampled = steps
        return self.algorithm.explore(self._steps + steps)

    def update(self, batches: Sequence[Experience], means: MetricMeans, share: float = 1.0) -> None:
        """Take in these batches and train; adds the update's metrics to `means`.

        Raises NotFinite if it makes a weight NaN, and UpdateStopped after a `stop`.

        `share` says how much they are together, where 1 is one batch of each of the crew's rollout processes; it is
        another number where an update does not wait for all.
        """
        try:
            self._update(batches, means, share)
            self.learner.require_finite()
        except NotFinite:
            for batch in batches:
                explain_not_finite(batch, self._game.spec.id)  # raises instead if an observation is the cause
            raise

    def _update(self, batches: Sequence[Experience], means: MetricMeans, share: float) -> None:
        if share != self._share:
            self._share = share
            self.algorithm.expect(round(self._rows * share))
        for batch in batches:
            self._normalise(batch, round(self._rows * share / len(batches)))
            self.buffer.add(batch)
        self.learn(means)

    def learn(self, means: MetricMeans) -> None:
        """Train on what the buffer holds."""
        # Rollouts run in eval mode: a dropout must not change stored log-probabilities.
        self.learner.nets.train()
        self.algorithm.schedule(self.learner, self._steps + self._scheduled_steps)
        try:
            for metrics in self.algorithm.update(self.learner, self.buffer, self._rng):
                means.add(metrics, int(metrics.get("rows", 1)), self.algorithm.count_metrics)
                self.learner.raise_if_stopped()
            if not self.algorithm.equal_steps:
                self.learner.join()
        finally:
            self.learner.nets.eval()
        if not self.algorithm.plays:
            self._sampled += self._rows  # without games, steps are the rows learnt from
        if self._copies:
            for name, net in self.learner.all_nets().items():
                self._copies[name].load_state_dict(net.state_dict())

    @property
    def _scheduled_steps(self) -> int:
        """Steps of the generation so far; 0 where the processes of a crew, whose learners must stay equal, differ."""
        apart = self._plan.asynchronous and self._plan.learners > 1
        return 0 if apart else self._sampled

    def count_steps(self, steps: int) -> None:
        """Add the environment steps that the whole crew sampled in this generation."""
        self._steps += steps

    def save(
        self, buffers: Sequence[Mapping[str, Any] | None] = (), *, kind: str = KIND, further_steps: int = 0
    ) -> CheckpointRef:
        """Store the learner's checkpoint; `buffers` says where each process's kept buffer is.

        `further_steps` are those of a generation under way, which are not counted yet.
        """
        assert self._made_for is not None
        checkpoint = Checkpoint(
            model=self._plan.model,
            game=self._plan.game,
            # stored before the next gradient step, so that large models need no second copy in memory
            weights=self.learner.weights(share=True),
            learner=self.learner.state(share=True),
            rng={"seed": self._seed},
            steps=self._steps + further_steps,
            algorithm=None if acts_by_itself(self.algorithm) else self._made_for,
            buffers=tuple(buffer for buffer in buffers if buffer is not None),
            raw_images=sees_raw_images(self.learner.model),
        )
        return save(self._store, checkpoint, kind=kind)

    def _kept_buffer(self, task: GenerationTask, rank: int) -> Mapping[str, Any] | None:
        """Where the checkpoint that the task starts from has this process's buffer."""
        if task.checkpoint is None:
            return None
        buffers = load(self._store, task.checkpoint).buffers
        return buffers[rank] if rank < len(buffers) else None

    def _load(self, task: GenerationTask, reload: bool) -> None:
        checkpoint = None
        if task.checkpoint is not None and (reload or task.algorithm != self._made_for):
            checkpoint = load(self._store, task.checkpoint)
        elif task.checkpoint is not None:
            return
        if self._made_for != task.algorithm or checkpoint is None or not checkpoint.learner:
            # networks of which the checkpoint knows nothing start from the task's seed
            self.learner = build_learner(self.algorithm, self._plan.model, self._game.spec, task.seed)
            self.learner.to(torch.device(self._plan.resources.device), _AUTOCAST[self._plan.resources.autocast])
            reduce = self._exchange if self._all_reduce else None
            self.learner.connect(reduce, self._stop_asked.is_set)
            self.learner.nets.eval()
            self._made_for = task.algorithm
        self._steps = 0
        if checkpoint is not None:
            self._restore(checkpoint, task)

    def _exchange(self, gradients: torch.Tensor, meanwhile: Callable[[], object] | None = None) -> None:
        """Average the gradients over the crew; the time includes that for slower processes."""
        assert self._all_reduce is not None
        with self._times.part("exchange"):
            self._all_reduce.average(gradients, meanwhile)

    def _restore(self, checkpoint: Checkpoint, task: GenerationTask) -> None:
        assert task.checkpoint is not None
        try:
            self.learner.load(checkpoint.weights, checkpoint.learner)
        except CheckpointMismatch as error:
            raise CheckpointMismatch(f"{task.checkpoint.uri}: {error}") from error
        for net in self.learner.all_nets().values():
            see_raw_images(net, checkpoint.raw_images)
        self._steps = checkpoint.steps

    def _normalise(self, batch: Experience, rows: int) -> None:
        """Merge the batch's observations, of about so many rows in all processes, into the moments of networks."""
        for net in self.learner.nets.values():
            if isinstance(net, Normalised):
                moments = net.moments(encode(net, to_device(to_tensors(batch.observations), self.learner.device)))
                if not bool(torch.isfinite(moments.sum())):
                    explain_not_finite(batch, self._game.spec.id)
                if self._all_reduce is not None:
                    self._all_reduce.average(moments)
                net.absorb(moments, rows)


def rollout_actor(algorithm: Algorithm, nets: Mapping[str, nn.Module], plan: CrewPlan) -> Actor:
    """The algorithm's actor, computing in the type in which the crew learns."""
    make = partial(_make_game, plan.game)
    actor = algorithm.explorer(nets, make)
    actor.autocast = _AUTOCAST[plan.resources.autocast]  # type: ignore[attr-defined]
    return actor


def _make_game(game: Component, tables: int) -> VectorGame:
    return make_game(game.id, tables, **game.options)


def expected_rows(task: GenerationTask, spec: GameSpec, rollout_steps: int) -> int:
    """The mean number of the learner's decisions in one update of the whole crew."""
    live = task.shares[0] if spec.team_count > 1 else 1.0
    mixed = sum(task.mate_shares[1:])
    # a mixed team has one seat of the learner's, and teams are played equally often
    learning = live + (1.0 - live) / spec.team_count - mixed * (1.0 / spec.team_count - 1.0 / spec.seats)
    width = spec.seats if spec.simultaneous else 1
    return round(rollout_steps * task.tables * task.rollout_actors * width * learning)
