"""Checkpoints of the algorithms of Box actions play as their algorithms do."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.training.learning.test_exact_resume import generation, new_process
from workers.algorithms.building import actor_of
from workers.checkpoints import load
from workers.crews.task import GenerationTask
from workers.games.names import make_game
from workers.inference.bounded import DeterministicPolicy, SquashedPolicy

PENDULUM = Component(id="gymnasium", options={"env": "Pendulum-v1"})
OPTIONS = {"rollout_steps": 2, "capacity": 600, "warm_up": 40, "minibatch": 16, "replay_ratio": 8.0, "kept": True}
TASK = GenerationTask(
    game=PENDULUM,
    model=Component(id="mlp", options={"hidden": [16, 16]}),
    algorithm=Component(id="sac", options=OPTIONS),
    steps=100,
    seed=3,
    tables=8,
    player="main",
)


@pytest.mark.parametrize(("name", "kind"), [("sac", SquashedPolicy), ("td3", DeterministicPolicy)])
def test_a_checkpoint_plays_within_the_bounds_as_its_algorithm_does(name: str, kind: type, tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path))
    task = replace(TASK, algorithm=Component(id=name, options=OPTIONS))
    process = new_process(task, store)
    ref, _ = generation(process, task, True)
    policy = actor_of(load(store, ref), make_game("gymnasium", 1, env="Pendulum-v1").spec)
    assert type(policy) is kind
    observations = np.random.default_rng(0).standard_normal((64, 3)).astype(np.float32)
    draws = np.random.default_rng(1).random((64, 1), dtype=np.float32)
    played, best = (policy.decide(observations, None, given).actions for given in (draws, None))
    assert (np.abs(played) <= 2.0).all() and np.array_equal(played, best) == (kind is DeterministicPolicy)
    assert np.array_equal(best, process._training.actor().act({"obs": observations}, None)["action"])
