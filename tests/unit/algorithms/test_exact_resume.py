"""Every built-in algorithm goes on from its checkpoint bit for bit, in a new process as in the one that made it.

Algorithms with a replay buffer do so with `kept: true`. `impala` does so on a fused crew; its asynchronous crews are
recorded as not exact.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask
from orchestrator.spec.algorithms.base import ReplayOptions
from orchestrator.spec.algorithms.choice import BUILT_IN_ALGORITHMS
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.training.learning.test_exact_resume import generation, new_process

BOARD = Component(id="tic_tac_toe")
HIDDEN = Component(id="kuhn_poker")
PENDULUM = Component(id="gymnasium", options={"env": "Pendulum-v1"})
TEAM = Component(id="two_step")
MLP = Component(id="mlp", options={"hidden": [16, 16]})
GRU = Component(id="gru", options={"hidden": 16, "state": 16})
DATA = "tests.unit.algorithms.imitation.samples:centre_games"
REPLAY = {"capacity": 600, "warm_up": 40, "minibatch": 16, "replay_ratio": 4.0, "kept": True}

SETTINGS: dict[str, dict[str, Any]] = {
    "ddpg": {"game": PENDULUM, "noise": "ornstein_uhlenbeck", "n_step": 3},
    "td3": {"game": PENDULUM},
    "sac": {"game": PENDULUM},
    "vdn": {"game": TEAM},
    "qmix": {"game": TEAM},
    "coma": {"game": TEAM},
    "mappo": {"game": TEAM},
    "atoc": {"game": TEAM},
    "rainbow": {"value_low": -1.0, "value_high": 1.0, "atoms": 11},
    "r2d2": {"game": HIDDEN, "model": GRU, "length": 3, "burn_in": 1},
    "dqn": {"prioritised": True, "n_step": 3},
    "es": {"population": 4},
    "mmd": {"anneal_steps": 10},
    "bc": {"dataset": [DATA]},
    "iql": {"dataset": [DATA]},
    "sl_rl": {"dataset": [DATA], "imitation_rows": 600, "imitation_minibatch": 32},
}
"""Where an algorithm needs another game or model than perceptrons at tic-tac-toe, and options of its own."""


def task_of(name: str) -> GenerationTask:
    given = dict(SETTINGS.get(name, {}))
    game, model = given.pop("game", BOARD), given.pop("model", MLP)
    replay = REPLAY if issubclass(BUILT_IN_ALGORITHMS[name], ReplayOptions) else {"minibatch": 16}
    options = {"rollout_steps": 8, **replay, **given}
    return GenerationTask(
        game=game,
        model=model,
        algorithm=Component(id=name, options=options),
        steps=128,
        seed=3,
        tables=8,
        player="main",
    )


@pytest.mark.parametrize("name", BUILT_IN_ALGORITHMS)
def test_a_new_process_goes_on_bit_for_bit(name: str, tmp_path: Path) -> None:
    store, task = ArtifactStore(str(tmp_path)), task_of(name)
    warm = new_process(task, store)
    first, metrics = generation(warm, task, True)
    assert metrics.values()["rows"] > 0
    following = replace(task, seed=4, checkpoint=first)
    continued, _ = generation(warm, following, False)
    resumed, _ = generation(new_process(task, store), following, True)
    assert resumed.sha256 == continued.sha256 != first.sha256
    again, _ = generation(warm, following, True)  # as after a generation that was stopped half-way
    assert again.sha256 == continued.sha256
