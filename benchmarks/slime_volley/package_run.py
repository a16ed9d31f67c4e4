"""Plays slimevolleygym for `benchmarks.slime_volley`: run by the interpreter of build/slimevolleygym-venv.

    play IN OUT   plays the recorded actions with the recorded serves, and writes what the package shows for each step
    weights OUT   writes the weights of the package's own policy

IN has `actions` [steps, 2] of 0 to 5 (left, right) and `serves` [games, points, 2] for the episodes one after another.
OUT has `observations` [steps + games, 2, 12], one before each episode's first step and one after each step, `rewards`
[steps] of the right slime, `done` [steps], and `choices` [steps], what the package's policy would do on the left.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from slimevolleygym.slimevolley import BaselinePolicy, SlimeVolleyEnv


class Serves:
    """Stands in for the package's generator of random numbers: it gives back the recorded velocities."""

    def __init__(self, velocities: Sequence[Sequence[float]]) -> None:
        self._next: Iterator[float] = iter(np.asarray(velocities).ravel().tolist())

    def uniform(self, low: float, high: float) -> float:
        value = next(self._next)
        assert low <= value <= high, f"a serve of {value} is not within {low} to {high}"
        return value


def play(given: Any) -> dict[str, Any]:
    """All episodes, in order; an episode ends where the package says so."""
    observations, rewards, ends, choices = [], [], [], []
    env, at = SlimeVolleyEnv(), 0
    actions, table = given["actions"].tolist(), env.action_table
    for serves in given["serves"]:
        env.game.np_random = Serves(serves)
        env.reset()
        policy = BaselinePolicy()
        observations.append(_seen(env))
        over = False
        while not over and at < len(actions):
            left, right = actions[at]
            forward, back, jump = policy.predict(observations[-1][0])
            # forward and back together do nothing
            choices.append(table.index([int(forward > back), int(back > forward), jump]))
            _, reward, over, _ = env.step(table[right], table[left])
            observations.append(_seen(env))
            rewards.append(reward)
            ends.append(over)
            at += 1
    return {
        "observations": np.array(observations),
        "rewards": np.array(rewards),
        "done": np.array(ends),
        "choices": np.array(choices),
    }


def _seen(env: Any) -> list[Any]:
    return [env.game.agent_left.getObservation(), env.game.agent_right.getObservation()]


def weights() -> dict[str, Any]:
    """The matrix [7, 15] and the bias [7] of the recurrent policy that the package plays against by default."""
    policy = BaselinePolicy()
    return {"weight": policy.weight, "bias": policy.bias}


def main() -> None:
    if sys.argv[1] == "play":
        np.savez(sys.argv[3], **play(np.load(sys.argv[2])))
    else:
        np.savez(sys.argv[2], **weights())


if __name__ == "__main__":
    main()
