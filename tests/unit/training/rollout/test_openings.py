"""Random openings: where they are played, and that nobody learns from them."""

import numpy as np
import pytest

from tests.unit.training.rollout.test_sampling import policy_for, sampler_for
from workers.games.builtin.connect_four import ConnectFour
from workers.games.builtin.rock_paper_scissors import RockPaperScissors
from workers.rollout.openings import OpeningRules, Openings, random_legal


def test_random_openings_vary_self_play_only_and_are_not_learnt_from() -> None:
    game = ConnectFour(tables=64)
    rules = OpeningRules(share=1.0, plies=6)
    sampler = sampler_for(game, [0.5, 0.5], {0: policy_for(game, seed=1)}, openings=rules, steps=1)
    batch = sampler.collect()
    assert (batch.streams // 2 >= 32).all()
    assert len(batch) == 16


@pytest.mark.parametrize("rules", [OpeningRules(share=0.0), OpeningRules(plies=0)])
def test_openings_can_be_turned_off(rules: OpeningRules) -> None:
    openings = Openings(rules, ConnectFour(tables=1).spec, 8, np.random.default_rng(0))
    assert not openings.active and not openings.left.any()


def test_hidden_and_simultaneous_games_have_no_random_openings() -> None:
    assert OpeningRules().longest(RockPaperScissors(tables=1).spec) == 0
    assert OpeningRules().longest(ConnectFour(tables=1).spec) == 10


def test_random_legal_moves_are_uniform() -> None:
    legal = np.tile(np.array([False, True, False, True, True]), (60_000, 1))
    chosen = random_legal(legal, np.random.default_rng(0).random(60_000, np.float32))
    np.testing.assert_allclose(np.bincount(chosen, minlength=5) / 60_000, [0, 1 / 3, 0, 1 / 3, 1 / 3], atol=0.01)


@pytest.mark.parametrize("bad", [{"share": 1.5}, {"share": -0.1}, {"plies": -1}])
def test_impossible_openings_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        OpeningRules(**bad)  # type: ignore[arg-type]
