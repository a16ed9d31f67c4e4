"""What every process of a crew has: a game, a model, opponents by reference, and seeds of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed import TCPStore  # type: ignore[attr-defined]

from orchestrator.artifacts import ArtifactStore
from orchestrator.catalog import Component
from workers.bots.names import make_bot
from workers.bots.protocol import Bot
from workers.crews.errors import CrewLost
from workers.crews.task import GenerationTask, TaskOpponent
from workers.games.names import make_game
from workers.games.protocol import VectorGame
from workers.inference.cache import PolicyCache
from workers.inference.policy import Policy
from workers.models.contract import build_model
from workers.rollout.sampler import Sampler
from workers.rollout.seating import seat

_REDUCE_TIMEOUT = timedelta(minutes=10)


@dataclass(frozen=True, kw_only=True)
class CrewPlan:
    """What a crew is built for; a warm crew serves every task with the same plan."""

    game: Component
    model: Component
    algorithm: Component
    tables: int
    rollout_actors: int
    trainers: int
    threads: int
    split: bool

    @property
    def processes(self) -> int:
        return self.rollout_actors + (self.trainers if self.split else 0)

    @property
    def cpus(self) -> int:
        """What Ray must have free for it."""
        return self.processes * self.threads

    @property
    def learners(self) -> int:
        """Processes that hold the model in training and average their gradients."""
        return self.trainers if self.split else self.rollout_actors


def game_of(component: Component, tables: int) -> VectorGame:
    """The named game on so many tables."""
    return make_game(component.id, tables, **component.options)


class Table:
    """The sampling side of one process: its tables, and the opponents that have sat at them lately."""

    def __init__(self, plan: CrewPlan, store: ArtifactStore, part: int) -> None:
        self._plan, self._part = plan, part
        self.game = game_of(plan.game, plan.tables)
        self._cache = PolicyCache(store, self.game.spec)
        self._bots: dict[str, Bot] = {}

    def sampler(self, task: GenerationTask, model: nn.Module, steps: int) -> Sampler:
        """Fresh tables for a generation, with randomness of their own."""
        spec, parts = self.game.spec, self._plan.rollout_actors
        seats_rng = np.random.default_rng([task.seed, 1])
        rng = np.random.default_rng([task.seed, 2, self._part])
        shares = task.shares if spec.seats > 1 else [1.0]
        seating = seat(
            tables=self.game.tables, seats=spec.seats, shares=shares, rng=seats_rng, part=self._part, parts=parts
        )
        self.game.reset(rng.integers(0, 2**64, self.game.tables, dtype=np.uint64))
        return Sampler(
            game=self.game,
            seating=seating,
            learner=Policy(model),
            opponents=self._players(task.others, set(seating.blocks)),
            steps=steps,
            rng=rng,
            openings=task.openings,
        )

    def _players(self, opponents: Sequence[TaskOpponent], seated: set[int]) -> dict[int, Policy | Bot]:
        """The opponents that got a table; the others are never read."""
        return {number: self._player(opponent) for number, opponent in enumerate(opponents) if number in seated}

    def _player(self, opponent: TaskOpponent) -> Policy | Bot:
        if opponent.checkpoint is not None:
            return self._cache.get(opponent.checkpoint)
        assert opponent.bot is not None
        if opponent.bot not in self._bots:
            self._bots[opponent.bot] = make_bot(opponent.bot, self.game.spec)
        return self._bots[opponent.bot]


class Ring:
    """The processes of a crew that train together, averaging gradients over gloo."""

    def __init__(self, rank: int, size: int) -> None:
        self._rank, self._size = rank, size
        self._store: TCPStore | None = None

    def host(self, address: str) -> tuple[str, int]:
        """Open the meeting point; the first process does."""
        self._store = TCPStore(address, 0, self._size, is_master=True, wait_for_workers=False)
        return address, int(self._store.port)

    def join(self, address: str, port: int) -> None:
        """Meet the others."""
        if self._store is None:
            self._store = TCPStore(address, port, self._size, is_master=False)
        dist.init_process_group(
            "gloo", store=self._store, rank=self._rank, world_size=self._size, timeout=_REDUCE_TIMEOUT
        )

    def average(self, tensor: Tensor) -> None:
        """Average over the ring, in place."""
        try:
            dist.all_reduce(tensor)
        except RuntimeError as error:
            raise CrewLost(f"process {self._rank} lost its ring: {error}") from error
        tensor /= self._size


def pin_threads(threads: int) -> None:
    """Sums are exact for a fixed number of threads only."""
    torch.set_num_threads(threads)


def fresh_weights(plan: CrewPlan, game: VectorGame, seed: int) -> dict[str, Tensor]:
    """The weights a player starts with when it has no checkpoint."""
    weights_seed = int(np.random.SeedSequence([seed, 3]).generate_state(1, np.uint64)[0] >> np.uint64(1))
    return dict(build_model(plan.model, game.spec, weights_seed).state_dict())
