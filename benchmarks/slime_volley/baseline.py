"""The package's own policy in arrays, with weights from the installed package, and games of a version against it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.games.builtin.slime_volley import MAX_STEPS, SlimeVolley
from workers.inference.policy import Policy

BASELINE_SEAT, LEARNER_SEAT = 0, 1
"""The package's policy plays on the left by default, and the one that is judged on the right."""
_ACTION = np.array([[[0, 3], [5, 4]], [[1, 2], [0, 3]]])
"""[forward, back, jump]: the action that does what these buttons do."""


class Baseline:
    """The recurrent net of 120 parameters, one row a table. It sees itself and the ball, and what it last put out."""

    def __init__(self, weight: NDArray[np.float64], bias: NDArray[np.float64], tables: int) -> None:
        self._weight, self._bias = weight, bias
        self._output = np.zeros((tables, len(bias)))

    def act(self, observations: NDArray[np.floating]) -> NDArray[np.int64]:
        """One action for each table."""
        inputs = np.concatenate([observations[:, :8], self._output], axis=1)
        self._output = np.tanh(inputs @ self._weight.T + self._bias)
        pressed = (self._output[:, :3] > 0.75).astype(np.int64)
        return np.asarray(_ACTION[pressed[:, 0], pressed[:, 1], pressed[:, 2]])


@dataclass(frozen=True, kw_only=True)
class Score:
    """Points won minus points lost, over whole episodes."""

    episodes: int
    mean: float
    deviation: float
    wins: int
    losses: int
    length: float

    def to_json(self) -> dict[str, Any]:
        """As plain values, with the half width of the mean's 95 % interval."""
        half = 1.96 * self.deviation / math.sqrt(self.episodes)
        return {
            "episodes": self.episodes,
            "mean": round(self.mean, 4),
            "deviation": round(self.deviation, 4),
            "half_width": round(half, 4),
            "wins": self.wins,
            "losses": self.losses,
            "length": round(self.length, 1),
        }


def score_against(
    policy: Policy, weights: dict[str, NDArray[np.float64]], *, episodes: int, seed: int, sampled: bool
) -> Score:
    """Play so many episodes at once, each with a fresh state of the package's policy."""
    game = SlimeVolley(tables=episodes)
    game.auto_reset = game.keeps_history = False
    game.reset(np.arange(episodes, dtype=np.uint64) + np.uint64(seed * 1_000_003))
    rng, baseline = np.random.default_rng(seed), Baseline(weights["weight"], weights["bias"], episodes)
    totals, lengths, running = np.zeros(episodes), np.zeros(episodes), np.ones(episodes, np.bool_)
    legal = np.ones((episodes, game.spec.actions), np.bool_)
    for _ in range(MAX_STEPS):
        seen = np.asarray(game.turn().observations).reshape(episodes, 2, 12)
        actions = np.empty((episodes, 2), np.int64)
        actions[:, BASELINE_SEAT] = baseline.act(seen[:, BASELINE_SEAT].astype(np.float64))
        draws = rng.random(episodes, dtype=np.float32) if sampled else None
        actions[:, LEARNER_SEAT] = policy.decide(seen[:, LEARNER_SEAT].copy(), legal, draws).actions
        result = game.step(actions.ravel())
        totals += result.rewards[:, LEARNER_SEAT] * running
        lengths += running
        running &= ~result.done
        if not running.any():
            break
    return Score(
        episodes=episodes,
        mean=float(totals.mean()),
        deviation=float(totals.std(ddof=1)),
        wins=int((totals > 0).sum()),
        losses=int((totals < 0).sum()),
        length=float(lengths.mean()),
    )
