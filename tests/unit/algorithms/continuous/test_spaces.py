"""Which games the algorithms of Box actions take; the others are refused by name."""

import numpy as np
import pytest
from gymnasium import spaces

from orchestrator.catalog import Component
from tests.unit.algorithms.continuous.samples import MLP, SPEC
from workers.algorithms.building import build_learner
from workers.algorithms.contract import make_algorithm
from workers.algorithms.errors import BadAlgorithm
from workers.games.protocol import GameSpec


def built(name: str, action: spaces.Space[object], model: Component = MLP) -> None:
    spec = GameSpec(id="arm", seats=1, observation=SPEC.observation, action=action, max_steps=10)
    algorithm = make_algorithm(Component(id=name))
    algorithm.actor(build_learner(algorithm, model, spec, 0).all_nets())


@pytest.mark.parametrize("name", ["sac", "td3", "ddpg"])
@pytest.mark.parametrize(
    "action",
    [
        spaces.Discrete(3),
        spaces.MultiDiscrete([2, 3]),
        spaces.MultiBinary(2),
        spaces.Tuple([spaces.Box(-1, 1, (1,)), spaces.Discrete(2)]),
    ],
    ids=str,
)
def test_other_actions_are_refused(name: str, action: spaces.Space[object]) -> None:
    with pytest.raises(BadAlgorithm, match="it learns Box actions only"):
        built(name, action)


@pytest.mark.parametrize("name", ["sac", "td3", "ddpg"])
def test_bounds_must_be_finite_and_models_without_memory(name: str) -> None:
    with pytest.raises(BadAlgorithm, match="finite bounds only; ppo learns others"):
        built(name, spaces.Box(-1, np.inf, (2,), np.float32))
    with pytest.raises(BadAlgorithm, match="without a recurrent state"):
        built(name, spaces.Box(-1, 1, (2,), np.float32), Component(id="gru"))
    built(name, spaces.Box(-1, 1, (2, 3), np.float32))
