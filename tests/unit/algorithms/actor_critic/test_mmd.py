"""Magnetic mirror descent: the last policy of self-play nears the equilibrium of Kuhn poker, where PPO's does not."""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from workers.crews.actors import FusedActor
from workers.crews.plan import crew_plan
from workers.games.exploitability import nash_conv
from workers.games.names import make_game

UPDATES = 80
SAME = {"rollout_steps": 8, "learning_rate": 5e-3, "value_clip": 0.0}
"""Where PPO's defaults differ, apart from what makes it PPO."""


def last_policys_nash_conv(algorithm: Component, folder: Path, seed: int) -> float:
    task = GenerationTask(
        game=Component(id="kuhn_poker"),
        model=Component(id="mlp", options={"hidden": [32]}),
        algorithm=algorithm,
        steps=1,
        seed=seed,
        tables=512,
    )
    actor = FusedActor(crew_plan(task), ArtifactStore(str(folder)), 0)
    actor.set_up()
    actor.prepare(task, True)
    actor.advance(UPDATES)
    model = actor._training.learner.model

    def policy(observations: NDArray[np.float32], legal: NDArray[np.bool_]) -> NDArray[np.float64]:
        with torch.no_grad():
            logits, _ = model(torch.from_numpy(observations), torch.from_numpy(legal))
        return np.asarray(torch.softmax(logits.double(), 1).numpy())

    return nash_conv(lambda tables: make_game("kuhn_poker", tables), [policy])


def test_the_last_policy_nears_the_equilibrium(tmp_path: Path) -> None:
    mmd = last_policys_nash_conv(Component(id="mmd"), tmp_path, 1)
    ppo = last_policys_nash_conv(Component(id="ppo", options=SAME), tmp_path, 1)
    assert mmd < 0.15
    assert mmd < 0.6 * ppo
