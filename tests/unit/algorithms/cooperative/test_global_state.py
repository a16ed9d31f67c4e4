"""The global state: recorded for algorithms that ask for it, final states of truncated games too, and for no others."""

from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces

from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.algorithms.cooperative.teams import task
from tests.unit.training.learning.test_exact_resume import new_process
from workers.games.errors import BadGame
from workers.games.names import make_game
from workers.games.protocol import GameSpec
from workers.rollout.joint import join_teams

OPTIONS = {"env": "tests.unit.games.environments:Rowers", "teams": "one"}


def rowers(**options: object) -> Component:
    return Component(id="pettingzoo_parallel", options={**OPTIONS, **options})


@pytest.mark.parametrize("workers", [0, 1])
def test_the_environments_state_is_recorded_to_the_last_stroke(workers: int, tmp_path: Path) -> None:
    options = {"warm_up": 8, "minibatch": 16, "rollout_steps": 8}
    given = task(Component(id="qmix", options=options), rowers(workers=workers), tables=2)
    actor = new_process(given, ArtifactStore(str(tmp_path)))
    actor.prepare(given, True)
    actor.advance(2)
    buffer = actor._training.buffer
    batch = join_teams(buffer.newest)
    states, strokes = batch.columns["global"], batch.columns["obs"][:, 0, 0]
    assert states.shape == (len(batch), 2) and np.array_equal(states[:, 0], strokes)
    assert set(states[batch.finals, 0]) == {3.0}
    drawn = buffer.draw(64, np.random.default_rng(0))
    assert drawn is not None
    now, after = drawn.columns["global"], drawn.columns["next/global"]
    assert np.array_equal(after[:, 0], now[:, 0] + 1) and (drawn.columns["discount"] > 0).all()
    assert np.array_equal(after[:, 1], drawn.columns["action"].sum(1))


@pytest.mark.parametrize("id", ["ppo", "vdn"])
def test_nobody_asks_for_it_in_vain(id: str, tmp_path: Path) -> None:
    options = {"minibatch": 16, "rollout_steps": 8} | ({"warm_up": 8} if id == "vdn" else {})
    given = task(Component(id=id, options=options), rowers(options={"silent": True}), tables=2)
    actor = new_process(given, ArtifactStore(str(tmp_path)))
    actor.prepare(given, True)
    actor.advance(2)
    assert "global" not in actor._training.buffer.newest.columns


def test_a_game_that_declares_a_state_must_show_it() -> None:
    game = make_game("rock_paper_scissors", 1)
    with pytest.raises(BadGame, match=r"rock_paper_scissors: it declares a global state and does not define"):
        game.global_state()
    with pytest.raises(BadGame, match=r"its global state is Discrete\(3\); allowed: Box"):
        GameSpec(id="odd", seats=2, actions=2, observation_shape=(1,), max_steps=1, state=spaces.Discrete(3))
