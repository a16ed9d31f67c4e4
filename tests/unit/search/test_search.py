"""The search against exhaustive play, and what it promises of its trees and budgets."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.unit.search.small_games import Bet, PoorBet, ThreeInTurn, best_first_choice
from workers.bots.minimax import value
from workers.games.errors import BadGame
from workers.games.names import make_game
from workers.games.protocol import VectorGame
from workers.rollout.openings import random_legal
from workers.search.errors import BadSearch
from workers.search.networks import uniform_network
from workers.search.rules import Method, SearchRules
from workers.search.search import Search

tic_tac_toe = partial(make_game, "tic_tac_toe")
connect_four = partial(make_game, "connect_four")


def positions(make: Any, tables: int, plies: int, seed: int = 0) -> VectorGame:
    """Tables after random moves; a table whose game ended has begun another."""
    game, rng = make(tables), np.random.default_rng(seed)
    game.reset(np.arange(tables, dtype=np.uint64))
    for ply in range(plies):
        legal = game.legal_of(game.turn())
        wait = ply < np.arange(tables) % (plies + 1)  # tables differ in how far they are
        kept = game.snapshot(np.flatnonzero(wait))
        game.step(random_legal(legal, rng.random(tables, dtype=np.float32)))
        game.restore(np.flatnonzero(wait), kept)
    return game


@pytest.mark.parametrize("method", ["gumbel", "puct"])
@pytest.mark.parametrize("leaves", [1, 4])
def test_the_searched_move_is_never_worse_than_the_best_of_tic_tac_toe(method: Method, leaves: int) -> None:
    tables, enough = 64, 3000
    game = positions(tic_tac_toe, tables, 6)
    assert len(set(game.plies.tolist())) > 4
    rules = SearchRules(simulations=enough, method=method, leaves=leaves)
    search = Search(tic_tac_toe, rules, slots=tables)
    found = search.run(game, np.arange(tables), uniform_network, None)
    assert found.visits.sum(1).tolist() == [enough] * tables
    planes = np.array(game.turn().observations).reshape(tables, 2, 9).astype(np.int64)
    for (mine, theirs), action in zip((planes @ (1 << np.arange(9))).tolist(), found.actions.tolist(), strict=True):
        if method == "gumbel" and bin(mine | theirs).count("1") < 2:
            continue  # it shares its visits among the moves: the first ply needs more of them
        assert -value(theirs, mine | 1 << action) == value(mine, theirs), (mine, theirs, action)


@pytest.mark.parametrize("method", ["gumbel", "puct"])
def test_three_seats_each_play_for_themselves(method: Method) -> None:
    game = ThreeInTurn(tables=2)
    game.reset(np.array([2, 3], np.uint64))
    rules = SearchRules(simulations=5000, method=method, leaves=1)
    found = Search(lambda tables: ThreeInTurn(tables=tables), rules, slots=2).run(
        game, np.arange(2), uniform_network, None
    )
    assert found.actions.tolist() == [best_first_choice(0), best_first_choice(1)]
    assert not found.visits[:, 3].any()
    assert not found.policy[:, 3].any()


@pytest.mark.parametrize("method", ["gumbel", "puct"])
@pytest.mark.parametrize(("kind", "best"), [(Bet, 1), (PoorBet, 0)])
def test_chance_is_sampled_and_one_seat_gets_the_most(kind: type[VectorGame], best: int, method: Method) -> None:
    game = kind(tables=16)  # type: ignore[call-arg]
    game.reset(np.arange(16, dtype=np.uint64))
    rules = SearchRules(simulations=128, method=method, outcomes=64, leaves=1)
    search = Search(lambda tables: kind(tables=tables), rules, slots=16)  # type: ignore[call-arg]
    found = search.run(game, np.arange(16), uniform_network, np.random.default_rng(1).random(16, dtype=np.float32))
    assert (found.policy.argmax(1) == best).mean() >= 0.9
    # gumbel shares its visits among both, so that its mean is below the better one's
    assert found.values.mean() == pytest.approx(0.7 if best else 0.35, abs=0.2)


def test_puct_explores_by_dirichlet_noise_on_legal_actions() -> None:
    game = positions(tic_tac_toe, 16, 4)
    legal = game.legal_of(game.turn()).copy()
    assert not legal.all()
    rules = SearchRules(simulations=1, method="puct", noise_share=1.0, noise_alpha=0.3)
    firsts = []
    for seed in (1, 1, 2):
        draws = np.random.default_rng(seed).random(16, dtype=np.float32)
        found = Search(tic_tac_toe, rules, slots=16).run(game, np.arange(16), uniform_network, draws)
        assert legal[np.arange(16), found.actions].all()
        firsts.append(found.actions)
    assert np.array_equal(firsts[0], firsts[1]), "the noise comes from the draws alone"
    assert not np.array_equal(firsts[0], firsts[2])
    plain = Search(tic_tac_toe, rules, slots=16).run(game, np.arange(16), uniform_network, None)
    assert np.array_equal(plain.actions, legal.argmax(1)), "without draws the uniform prior decides"


def test_a_tree_does_not_depend_on_the_others() -> None:
    game = positions(connect_four, 12, 9)
    draws = np.random.default_rng(2).random(12, dtype=np.float32)
    search = Search(connect_four, SearchRules(simulations=24), slots=12)
    together = search.run(game, np.arange(12), uniform_network, draws)
    some = np.array([7, 2, 9])
    apart = search.run(game, some, uniform_network, draws[some])
    assert np.array_equal(apart.actions, together.actions[some])
    assert np.array_equal(apart.visits, together.visits[some])


def test_forbidden_moves_are_never_tried() -> None:
    game = connect_four(1)
    game.reset(np.zeros(1, np.uint64))
    for _ in range(6):
        game.step(np.array([3]))  # the middle column is full
    found = Search(connect_four, SearchRules(simulations=64), slots=1).run(game, np.arange(1), uniform_network, None)
    assert found.visits[0, 3] == found.policy[0, 3] == 0.0
    assert found.visits.sum() == 64


def test_a_tree_goes_on_in_the_next_move() -> None:
    game = connect_four(3)
    game.reset(np.zeros(3, np.uint64))
    search = Search(connect_four, SearchRules(simulations=200, method="puct", leaves=1), slots=3, reuse=True)
    first = search.run(game, np.arange(3), uniform_network, None)
    expected = first.visits[np.arange(3), first.actions]
    game.step(first.actions)
    second = search.run(game, np.arange(3), uniform_network, None)
    # the root's own first visit was the expansion
    assert second.visits.sum(1).tolist() == (expected - 1 + 200).tolist()
    search.forget()
    assert search.run(game, np.arange(3), uniform_network, None).visits.sum(1).tolist() == [200] * 3


def test_a_kept_tree_agrees_with_the_positions_that_it_stands_for() -> None:
    game, rng = connect_four(4), np.random.default_rng(3)
    game.reset(np.zeros(4, np.uint64))
    search = Search(connect_four, SearchRules(simulations=60, leaves=1), slots=4, reuse=True)
    for _ in range(8):
        found = search.run(game, np.arange(4), uniform_network, rng.random(4, dtype=np.float32))
        roots = np.arange(4) * search.trees.room
        assert np.array_equal(search.trees.positions["_stones"][roots], game.snapshot(np.arange(4))["_stones"])
        assert (found.visits[~game.turn().legal] == 0).all()
        game.step(found.actions)


def test_a_budget_of_time_ends_the_search_early() -> None:
    game = connect_four(2)
    game.reset(np.zeros(2, np.uint64))
    rules = SearchRules(simulations=100_000, seconds=0.05)
    found = Search(connect_four, rules, slots=2).run(game, np.arange(2), uniform_network, None)
    assert 1 <= found.simulations < 100_000
    assert found.visits.sum(1).tolist() == [found.simulations] * 2


def test_openspiel_games_are_searched_by_cloned_states() -> None:
    make = partial(make_game, "openspiel", game="tic_tac_toe")
    game = make(2)
    game.reset(np.zeros(2, np.uint64))
    for action in (0, 3, 1, 4):
        game.step(np.array([action, action]))
    found = Search(make, SearchRules(simulations=50), slots=2).run(game, np.arange(2), uniform_network, None)
    assert found.actions.tolist() == [2, 2]  # completes the row
    assert found.values[0] > 0.2


@pytest.mark.parametrize("name", ["kuhn_poker", "rock_paper_scissors", "soccer"])
def test_games_with_hidden_or_simultaneous_moves_are_refused(name: str) -> None:
    with pytest.raises(BadSearch, match=rf"{name}: .*allowed"):
        Search(partial(make_game, name), SearchRules(), slots=1)


def test_games_that_cannot_be_copied_are_refused() -> None:
    with pytest.raises(BadGame, match="cannot be copied"):
        Search(partial(make_game, "gymnasium", env="CartPole-v1"), SearchRules(), slots=1)


@pytest.mark.parametrize("wrong", [{"simulations": 0}, {"seconds": 0.0}, {"method": "best"}, {"leaves": 0}])
def test_rules_that_cannot_be_used_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadSearch):
        SearchRules(**wrong)
