"""Small batches and toy games for the tests of training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import nn

from orchestrator.spec.algorithms.base import AlgorithmOptions
from workers.algorithms.contract import Algorithm
from workers.algorithms.learner import Learner
from workers.algorithms.metrics import MetricMeans
from workers.buffers.fresh import Fresh
from workers.games.protocol import GameSpec, StepResult, Turn, VectorGame
from workers.rollout.batch import PENDING, TERMINAL, Experience


def random_batch(rows: int = 48, actions: int = 5, width: int = 6, states: int = 0, seed: int = 0) -> Experience:
    """Four streams in turn, a game end now and then, the last decision of each stream pending."""
    rng = np.random.default_rng(seed)
    streams = np.arange(rows) % 4
    next_row = np.arange(rows) + 4
    next_row[rng.random(rows) < 0.2] = TERMINAL
    next_row[next_row >= rows] = PENDING
    legal = rng.random((rows, actions)) < 0.7
    legal[:, 0] = True
    observations = rng.random((rows, width), np.float32)
    actions_taken = np.array([rng.choice(np.flatnonzero(row)) for row in legal])
    columns = {
        "obs": observations,
        "legal": legal,
        "action": actions_taken,
        "log_prob": -2.0 * rng.random(rows, np.float32),
        "value": rng.standard_normal(rows).astype(np.float32),
        "reward": rng.standard_normal(rows).astype(np.float32),
    }
    if states:
        columns["state"] = rng.standard_normal((rows, states)).astype(np.float32)
    return Experience(
        columns=columns,
        next_row=next_row,
        offsets=np.arange(0, rows + 1, 2),
        streams=streams,
        acted_by=np.zeros(rows, np.int64),
        tables=4,
    )


def learner_of(model: nn.Module, options: AlgorithmOptions) -> Learner:
    """A learner of one network, as `Algorithm.build` makes it."""
    learner = Learner(model)
    learner.optimiser(learning_rate=options.learning_rate, gradient_clip=options.gradient_clip)
    return learner


def updated(algorithm: Algorithm, learner: Learner, batch: Experience, seed: int = 0) -> dict[str, float]:
    """One update on this batch alone; returns its metrics."""
    buffer, means = Fresh(), MetricMeans()
    buffer.add(batch)
    for metrics in algorithm.update(learner, buffer, np.random.default_rng(seed)):
        means.add(metrics, int(metrics.get("rows", 1)), algorithm.count_metrics)
    return means.values()


class Countdown(VectorGame):
    """Three seats in turn; the game ends after `length` moves, and whoever moved last gets 2, the others -1."""

    def __init__(self, *, tables: int, length: int = 5, cut: bool = False, bound: int | None = None) -> None:
        spec = GameSpec(id="countdown", seats=3, actions=2, observation_shape=(2,), max_steps=bound or length)
        super().__init__(spec, tables)
        self._length, self._cut = length, cut
        self._moves_made = np.zeros(tables, np.int64)

    def begin(self, tables: Any) -> None:
        self._moves_made[tables] = 0

    def turn(self) -> Turn:
        seats = self._moves_made % 3
        observations = np.stack([seats, self._moves_made], 1).astype(np.float32)
        return Turn(np.arange(self.tables), seats, observations, np.ones((self.tables, 2), np.bool_))

    def advance(self, actions: Any) -> StepResult:
        mover = self._moves_made % 3
        self._moves_made += 1
        done = self._moves_made == self._length
        rewards = np.where(done[:, None], -1.0, 0.0).astype(np.float32).repeat(3, axis=1)
        rewards[done, mover[done]] = 2.0
        return StepResult(rewards, done, done & self._cut)

    def render_text(self, table: int, seat: int | None = None) -> str:
        return str(self._moves_made[table])


class Solitaire(VectorGame):
    """One seat; the game at table t lasts 1 + t % 4 steps, each of which returns 1."""

    def __init__(self, *, tables: int) -> None:
        super().__init__(GameSpec(id="solitaire", seats=1, actions=2, observation_shape=(1,), max_steps=4), tables)
        self._moves_made = np.zeros(tables, np.int64)
        self._lengths = 1 + np.arange(tables) % 4

    def begin(self, tables: Any) -> None:
        self._moves_made[tables] = 0

    def turn(self) -> Turn:
        rows = np.arange(self.tables)
        observations = self._moves_made[:, None].astype(np.float32)
        return Turn(rows, np.zeros(self.tables, np.int64), observations, np.ones((self.tables, 2), np.bool_))

    def advance(self, actions: Any) -> StepResult:
        self._moves_made += 1
        done = self._moves_made == self._lengths
        return StepResult(np.ones((self.tables, 1), np.float32), done, np.zeros(self.tables, np.bool_))

    def render_text(self, table: int, seat: int | None = None) -> str:
        return str(self._moves_made[table])


class Endless(Solitaire):
    """Never ends, although its spec says that 4 steps are the most."""

    def advance(self, actions: Any) -> StepResult:
        never = np.zeros(self.tables, np.bool_)
        return StepResult(super().advance(actions).rewards, never, never)


class Leaving(VectorGame):
    """Two seats at once; seat 1 leaves after its first decision with -1, and the game is cut off after the second."""

    def __init__(self, *, tables: int) -> None:
        spec = GameSpec(id="leaving", seats=2, actions=2, observation_shape=(2,), max_steps=2, simultaneous=True)
        super().__init__(spec, tables)

    def begin(self, tables: Any) -> None:
        """`plies` says it all."""

    def turn(self) -> Turn:
        made = self.plies
        seated = [(table, seat) for table in range(self.tables) for seat in range(1 if made[table] else 2)]
        tables, seats = np.array(seated, np.int64).T
        self._rows = len(tables)
        observations = np.stack([made[tables], seats], 1).astype(np.float32)
        return Turn(tables, seats, observations, np.ones((len(tables), 2), np.bool_))

    def advance(self, actions: Any) -> StepResult:
        done = self.plies == 1
        rewards = np.where(self.plies[:, None] == 0, [0.0, -1.0], [0.0, 0.0]).astype(np.float32)
        return StepResult(rewards, done, done)

    def _remember(self, actions: Any) -> None:
        """Rows of a turn vary."""

    def render_text(self, table: int, seat: int | None = None) -> str:
        return str(self.plies[table])


class Relay(VectorGame):
    """Teams at once, by default two against two; the team whose actions add up to most gets 1, split 3:1."""

    def __init__(self, *, tables: int, teams: Sequence[int] = (0, 1, 0, 1)) -> None:
        seats = len(teams)
        spec = GameSpec(
            id="relay",
            seats=seats,
            actions=3,
            observation_shape=(1,),
            simultaneous=True,
            max_steps=1,
            teams=tuple(teams),
        )
        super().__init__(spec, tables)

    def begin(self, tables: Any) -> None:
        """Every game starts alike."""

    def turn(self) -> Turn:
        rows, seats = self.tables * self.spec.seats, self.spec.seats
        return Turn(
            np.repeat(np.arange(self.tables), seats),
            np.tile(np.arange(seats), self.tables),
            np.ones((rows, 1), np.float32),
            np.ones((rows, 3), np.bool_),
        )

    def advance(self, actions: Any) -> StepResult:
        chosen = actions.reshape(self.tables, -1)
        member = np.eye(self.spec.team_count)[list(self.spec.teams)]
        sums = chosen @ member
        won = sums == sums.max(axis=1, keepdims=True)
        won &= (won.sum(axis=1) == 1)[:, None]
        # the first seat of a team gets three quarters of what it earns: what one seat gets says little of the team
        part = np.where([self.spec.teams.index(team) == seat for seat, team in enumerate(self.spec.teams)], 0.75, 0.25)
        rewards = (np.where(won, 1.0, 0.0) @ member.T * part).astype(np.float32)
        done = np.ones(self.tables, np.bool_)
        return StepResult(rewards, done, ~done)

    def render_text(self, table: int, seat: int | None = None) -> str:
        return "relay"
