"""CartPole without velocities is CartPole-v1 with two of its four numbers, one by one and as a vector."""

import gymnasium
import numpy as np
import pytest

from workers.games.adapters.cart_pole_pomdp import CART_POLE_POMDP
from workers.games.names import make_game


def test_it_is_cart_pole_without_velocities() -> None:
    make_game("gymnasium", 1, env=CART_POLE_POMDP)
    whole, part = gymnasium.make("CartPole-v1"), gymnasium.make(CART_POLE_POMDP)
    seen, shown = whole.reset(seed=5)[0], part.reset(seed=5)[0]
    for step in range(30):
        assert shown.tolist() == seen[[0, 2]].tolist()
        seen, *ends = whole.step(step % 2)[:4]
        shown, *same = part.step(step % 2)[:4]
        assert ends == same
        if any(ends[1:]):
            break
    assert part.spec is not None and part.spec.max_episode_steps == 500


@pytest.mark.parametrize("vector", [False, True])
def test_it_is_a_game_of_many_tables(vector: bool) -> None:
    game = make_game("gymnasium", 3, env=CART_POLE_POMDP, vector=vector)
    assert game.spec.observation_shape == (2,) and game.spec.actions == 2 and game.spec.max_steps == 500
    game.reset(np.arange(3, dtype=np.uint64))
    done = 0
    for _ in range(60):
        turn = game.turn()
        assert turn.observations.shape == (len(turn.tables), 2)
        done += int(game.step(np.zeros(len(turn.tables), np.int64)).done.sum())
    assert done >= 9  # pushing one way falls over in about ten steps
