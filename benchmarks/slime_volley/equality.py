"""Whether the built-in game is slimevolleygym's: recorded episodes are played by both and compared number by number."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.rates import say
from benchmarks.peers.searching.venvs import ToolFailed, ensure_python
from benchmarks.slime_volley.baseline import Baseline
from workers.games.builtin.slime_volley import LIVES, MAX_STEPS, SlimeVolley, serve

AT_ONCE = 100
"""Episodes that are recorded and compared together."""
_POINTS = 2 * LIVES


@dataclass(frozen=True, kw_only=True)
class Recording:
    """Episodes one after another, as the built-in game played them."""

    actions: NDArray[np.uint8]
    """[steps, 2], left and right."""
    serves: NDArray[np.float64]
    """[episodes, points, 2], the ball's velocity at the start of each point."""
    observations: NDArray[np.float32]
    """[steps + episodes, 2, 12]: before each episode's first step, and after each step."""
    rewards: NDArray[np.float32]
    """[steps], of the right slime."""
    done: NDArray[np.bool_]
    choices: NDArray[np.int64]
    """[steps], what the package's policy would do on the left."""


def record(seeds: NDArray[np.uint64], weights: Mapping[str, Any]) -> Recording:
    """Play an episode of each seed: a third each by random moves, by chasing the ball, and by the package's policy."""
    count = len(seeds)
    game, rng = SlimeVolley(tables=count), np.random.default_rng(int(seeds[0]))
    game.auto_reset = game.keeps_history = False
    game.reset(seeds)
    left, right = (Baseline(weights["weight"], weights["bias"], count) for _ in range(2))
    running, lengths = np.ones(count, np.bool_), np.zeros(count, np.int64)
    seen, actions, rewards, done, choices = [_seen(game)], [], [], [], []
    while running.any():
        asked = np.stack([left.act(seen[-1][:, 0]), right.act(seen[-1][:, 1])], axis=1)
        chosen = _moves(seen[-1], asked, rng)
        result = game.step(chosen.ravel())
        seen.append(_seen(game))
        actions.append(chosen.astype(np.uint8))
        rewards.append(result.rewards[:, 1].copy())
        done.append(result.done.copy())
        choices.append(asked[:, 0])
        lengths += running
        running &= ~result.done
    return Recording(
        actions=_in_turn(actions, lengths),
        serves=np.stack([np.stack(serve(np.full(_POINTS, s), np.arange(_POINTS)), axis=1) for s in seeds]),
        observations=_in_turn(seen, lengths + 1),
        rewards=_in_turn(rewards, lengths),
        done=_in_turn(done, lengths),
        choices=_in_turn(choices, lengths),
    )


def _seen(game: SlimeVolley) -> NDArray[np.float32]:
    return np.array(game.turn().observations, np.float32).reshape(game.tables, 2, 12)


def _in_turn(rows: list[NDArray[Any]], lengths: NDArray[np.int64]) -> NDArray[Any]:
    """[steps][episodes, ...] as one array, the episodes one after another, each up to its end."""
    together = np.stack(rows)
    return np.concatenate([together[:length, episode] for episode, length in enumerate(lengths.tolist())])


def _moves(seen: NDArray[np.float32], asked: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """[episodes, 2]: rallies end early in the first third, late in the second, and hardly ever in the last."""
    at_random = rng.integers(0, 6, asked.shape)
    behind = seen[:, :, 4] > seen[:, :, 0] - 0.05
    chasing = np.where(seen[:, :, 4] > 0.1, np.where(behind, 4, 1), 0)
    kind = np.arange(len(seen))[:, None] % 3
    noise = rng.random(asked.shape) < np.array([1.0, 0.2, 0.05])[kind]
    return np.where(noise, at_random, np.where(kind == 1, chasing, asked))


def package_weights() -> dict[str, NDArray[np.float64]]:
    """The weights of the package's own policy, read from the installed package: they are in no file of this project."""
    with tempfile.TemporaryDirectory() as folder:
        _run_package("weights", str(Path(folder) / "weights.npz"))
        with np.load(Path(folder) / "weights.npz") as found:
            return dict(found)


def play_package(recording: Recording) -> dict[str, NDArray[Any]]:
    """What the package shows, pays and ends with the same serves and actions."""
    with tempfile.TemporaryDirectory() as folder:
        given, shown = Path(folder) / "given.npz", Path(folder) / "shown.npz"
        np.savez(given, actions=recording.actions, serves=recording.serves)
        _run_package("play", str(given), str(shown))
        with np.load(shown) as found:
            return dict(found)


def _run_package(*arguments: str) -> None:
    script = Path(__file__).parent / "package_run.py"
    done = subprocess.run(
        [ensure_python("slimevolleygym"), "-W", "ignore", script, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ToolFailed(f"slimevolleygym: {done.stderr[-2000:]}")


def compare(recording: Recording, shown: Mapping[str, NDArray[Any]]) -> dict[str, int]:
    """Counts of what was compared and of what differs."""
    if len(shown["observations"]) != len(recording.observations):
        raise RuntimeError(
            f"the package shows {len(shown['observations'])} positions, not {len(recording.observations)}"
        )
    seen = shown["observations"].astype(np.float32)
    return {
        "episodes": int(recording.done.sum()),
        "steps": len(recording.actions),
        "points": int(np.count_nonzero(recording.rewards)),
        "different_numbers": int((seen != recording.observations).sum()),
        "different_rewards": int((shown["rewards"] != recording.rewards).sum()),
        "different_ends": int((shown["done"] != recording.done).sum()),
        "different_choices": int((shown["choices"] != recording.choices).sum()),
    }


def equality(episodes: int, seed: int = 1) -> dict[str, Any]:
    """Record so many episodes, play them by the package, and count what differs."""
    weights, total, longest = package_weights(), dict[str, int](), 0
    for first in range(0, episodes, AT_ONCE):
        seeds = np.arange(first, min(first + AT_ONCE, episodes), dtype=np.uint64) + np.uint64(seed * 1_000_003)
        recording = record(seeds, weights)
        ends = np.flatnonzero(recording.done)
        longest += int((np.diff(ends, prepend=-1) == MAX_STEPS).sum())
        for name, count in compare(recording, play_package(recording)).items():
            total[name] = total.get(name, 0) + count
        say(f"{total['episodes']} episodes, {total['steps']:,} steps, {total['different_numbers']} numbers differ")
    equal = not (total["different_numbers"] or total["different_rewards"] or total["different_ends"])
    return {**total, "episodes_of_3000_steps": longest, "equal": equal}
