"""Data sets of games whose best play is known, and learners in one process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from workers.crews.actors import FusedActor
from workers.crews.plan import crew_plan
from workers.games.names import make_game

GAME = Component(id="tic_tac_toe")


def centre_games(games: int = 60, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Tic-tac-toe by players that take the free field of the lowest number, after a first move at random."""
    rng = np.random.default_rng(seed)
    rows: dict[str, list[Any]] = {name: [] for name in ("obs", "legal", "action", "reward", "next_row", "game")}
    for number in range(games):
        game = make_game("tic_tac_toe", 1)
        game.auto_reset = False
        game.reset(np.array([number], np.uint64))
        last: dict[int, int] = {}
        done, first = False, True
        while not done:
            turn = game.turn()
            seat, legal = int(turn.seats[0]), np.array(game.legal_of(turn)[0])
            free = np.flatnonzero(legal)
            action = int(rng.choice(free)) if first else int(free[0])
            row = len(rows["action"])
            if seat in last:
                rows["next_row"][last[seat]] = row
            last[seat], first = row, False
            observed = np.array(turn.observations[0])
            for name, value in (("obs", observed), ("legal", legal), ("action", action), ("game", number)):
                rows[name].append(value)
            rows["next_row"].append(-1)
            rows["reward"].append(0.0)
            result = game.step(np.array([action]))
            done = bool(result.done[0])
            for each, at in last.items():
                rows["reward"][at] += float(result.rewards[0][each])
    return {name: np.array(values) for name, values in rows.items()}


def box_rows(rows: int = 400, seed: int = 0) -> dict[str, NDArray[Any]]:
    """Pendulum decisions: the torque is twice the second number of the observation; each game has 10 decisions."""
    rng = np.random.default_rng(seed)
    seen = rng.uniform(-1, 1, (rows, 3)).astype(np.float32)
    return {
        "obs": seen,
        "action": 2.0 * seen[:, 1:2],
        "reward": -np.abs(seen[:, 0]),
        "terminal": np.arange(rows) % 10 == 9,
    }


def write(path: Path, columns: Mapping[str, NDArray[Any]]) -> str:
    np.savez_compressed(path, **columns)  # type: ignore[arg-type]
    return str(path)


def process(task: GenerationTask, folder: Path) -> FusedActor:
    actor = FusedActor(crew_plan(task), ArtifactStore(str(folder / "artifacts")), 0)
    actor.set_up()
    return actor


def learnt(task: GenerationTask, folder: Path, updates: int) -> tuple[FusedActor, dict[str, float]]:
    """A process that has learnt the task for some updates, and its metrics."""
    actor = process(task, folder)
    actor.prepare(task, True)
    return actor, actor.advance(updates).metrics.values()
