"""Team games, tasks and drawn team steps for the tests of cooperative algorithms."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask
from workers.algorithms.building import build_learner
from workers.algorithms.contract import Algorithm, make_algorithm
from workers.algorithms.learner import Learner
from workers.buffers.contract import Batch
from workers.games.protocol import GameSpec

MODEL = Component(id="mlp", options={"hidden": [8]})
TWO_STEP = Component(id="two_step")


def team_spec(teams: tuple[int, ...] = (0, 0), state: int | None = 4) -> GameSpec:
    """A game of five numbers to see and three actions."""
    box = None if state is None else spaces.Box(-1.0, 1.0, (state,), np.float32)
    return GameSpec(
        id="team",
        seats=len(teams),
        actions=3,
        observation_shape=(5,),
        simultaneous=True,
        max_steps=9,
        teams=teams,
        state=box,
    )


def made(id: str, spec: GameSpec, **options: Any) -> tuple[Algorithm, Learner]:
    """The algorithm and its learner, with weights that are not near zero."""
    algorithm = make_algorithm(Component(id=id, options=options))
    learner = build_learner(algorithm, MODEL, spec, 1)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for net in learner.all_nets().values():
            for parameter in net.parameters():
                parameter.copy_(0.5 * torch.randn(parameter.shape, generator=generator))
    return algorithm, learner


def drawn(spec: GameSpec, rows: int = 6, seed: int = 0) -> Batch:
    """Random team steps as a buffer gives them; some mates are absent, some games have ended."""
    generator = torch.Generator().manual_seed(seed)
    mates = int(np.bincount(spec.teams).max())

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    legal = torch.rand((2, rows, mates, 3), generator=generator) < 0.7
    legal[..., 0] = True
    present = torch.rand((rows, mates), generator=generator) < 0.8
    present[:, 0] = True
    batch = Batch(
        {
            "obs": normal(rows, mates, 5),
            "next/obs": normal(rows, mates, 5),
            "legal": legal[0],
            "next/legal": legal[1],
            "action": torch.zeros(rows, mates, dtype=torch.int64),
            "reward": normal(rows),
            "discount": torch.where(torch.arange(rows) % 3 == 0, 0.0, 0.9),
            "present": present,
            "team": torch.arange(rows) % spec.team_count,
        }
    )
    batch["action"] = torch.multinomial(batch["legal"].flatten(0, 1).float(), 1, generator=generator).view(rows, mates)
    if spec.state is not None:
        batch["global"], batch["next/global"] = normal(rows, 4), normal(rows, 4)
    return batch


def task(algorithm: Component, game: Component = TWO_STEP, **options: Any) -> GenerationTask:
    """One generation of a small team."""
    given: dict[str, Any] = {"steps": 64, "seed": 3, "tables": 8, "player": "main", "model": MODEL, **options}
    return GenerationTask(game=game, algorithm=algorithm, **given)
