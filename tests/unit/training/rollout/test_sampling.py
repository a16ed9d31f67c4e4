"""Sampling: who sits where, what is learnt from, what is counted."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
import torch

from orchestrator.catalog import Component
from tests.unit.training.samples import Countdown, Endless, Leaving, Solitaire
from workers.algorithms.targets.gae import gae
from workers.bots.fixed_strategies import RandomBot
from workers.bots.names import make_bot
from workers.bots.protocol import Bot
from workers.games.builtin.connect_four import ConnectFour
from workers.games.builtin.kuhn_poker import KuhnPoker
from workers.games.builtin.rock_paper_scissors import RockPaperScissors
from workers.games.builtin.tic_tac_toe import TicTacToe
from workers.games.errors import BadGame
from workers.games.protocol import VectorGame
from workers.inference.greedy import EpsilonGreedy
from workers.inference.policy import Policy
from workers.models.contract import build_model
from workers.models.gru import GruNet
from workers.models.mlp import Mlp
from workers.rollout import opponents as opponents_module
from workers.rollout.batch import PENDING, TERMINAL
from workers.rollout.openings import OpeningRules
from workers.rollout.sampler import Sampler
from workers.rollout.seating import seat
from workers.rollout.tally import TallyBoard


def policy_for(game: VectorGame, kind: type[Mlp] | type[GruNet] = Mlp, seed: int = 0) -> Policy:
    torch.manual_seed(seed)
    return Policy(kind(observation_shape=game.spec.observation_shape, actions=game.spec.actions))


def sampler_for(
    game: VectorGame,
    shares: list[float],
    opponents: Mapping[int, Policy | Bot] | None = None,
    steps: int = 50,
    learner: Policy | None = None,
    openings: OpeningRules | None = None,
    seed: int = 0,
) -> Sampler:
    rng = np.random.default_rng(seed)
    game.reset(rng.integers(0, 2**63, game.tables).astype(np.uint64))
    seating = seat(tables=game.tables, teams=game.spec.teams, shares=shares, rng=rng)
    learner = learner or policy_for(game)
    return Sampler(
        game=game, seating=seating, learner=learner, opponents=opponents, steps=steps, rng=rng, openings=openings
    )


MIXTURES: dict[str, list[str]] = {
    "perceptrons": ["mlp"] * 9,
    "perceptrons around bots": ["mlp", "bot", "mlp", "mlp", "bot", "mlp", "bot", "mlp", "mlp"],
    "recurrent and others": ["gru", "mlp", "gru", "bot", "gru", "mlp", "gru", "gru", "mlp"],
    "convolutional and bots": ["conv", "bot", "conv", "conv", "bot", "conv", "conv", "conv", "conv"],
}
OPTIONS = {
    "mlp": {"hidden": [16]},
    "gru": {"hidden": 8, "state": 8},
    "conv": {"channels": 4, "blocks": 1, "hidden": 8},
}


def begun(length: int, steps: int) -> list[int]:
    """The lengths of the games that a table of such games begins in so many steps."""
    return [length] * math.ceil(steps / length)


@pytest.mark.parametrize("tables", [101, 128])
@pytest.mark.parametrize(
    ("kind", "mixture"),
    [
        (ConnectFour, "perceptrons"),
        (RockPaperScissors, "perceptrons"),
        (ConnectFour, "perceptrons around bots"),
        (RockPaperScissors, "recurrent and others"),
        (ConnectFour, "recurrent and others"),
        (ConnectFour, "convolutional and bots"),
    ],
)
def test_grouped_opponents_play_as_they_would_one_by_one(
    kind: type[ConnectFour] | type[RockPaperScissors], mixture: str, tables: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 101 tables some are two to a block and some alone."""
    monkeypatch.setattr(opponents_module, "FEW_MODULES", 1)
    random = RandomBot(kind(tables=1).spec)

    def opponent(number: int, name: str) -> Policy | Bot:
        component = Component(id=name, options=OPTIONS.get(name, {}))
        return random if name == "bot" else Policy(build_model(component, random.spec, number), component)

    def collected() -> tuple[np.ndarray, np.ndarray, int]:
        game = kind(tables=tables)
        opponents = {number: opponent(number, name) for number, name in enumerate(MIXTURES[mixture])}
        sampler = sampler_for(game, [0.1, *([0.1] * 9)], opponents, steps=30)
        batch = sampler.collect()
        return batch.actions, sampler.board.counts().outcomes, len(sampler._opponents._batches)

    together = collected()
    monkeypatch.setattr(opponents_module, "architecture", lambda policy: None)
    alone = collected()
    assert together[2] == len(set(MIXTURES[mixture])), "one batch of each kind"
    assert alone[2] == 9 if "bot" not in MIXTURES[mixture] else alone[2] > 5
    assert len(together[0]) == len(alone[0])
    assert (together[0] == alone[0]).mean() > 0.99, "up to the last bit of a sum"
    assert together[1].sum() > 0


def test_self_play_learns_from_every_seat_and_counts_no_result() -> None:
    sampler = sampler_for(TicTacToe(tables=8), [1.0], steps=40)
    batch = sampler.collect()
    assert len(batch) == 8 * 40
    assert set(batch.streams % 2) == {0, 1}
    ends = batch.rewards[batch.next_row == TERMINAL]
    assert ends.sum() == 0.0 and (ends > 0).any()
    counts = sampler.board.counts()
    assert counts.outcomes.size == 0 and counts.games > 0


def test_only_learning_seats_train_and_every_result_is_counted() -> None:
    game = ConnectFour(tables=64)
    opponents = {0: policy_for(game, seed=1), 1: make_bot("random", game.spec)}
    sampler = sampler_for(game, [0.25, 0.5, 0.25], opponents)
    batch = sampler.collect()
    tables, seats = batch.streams // 2, batch.streams % 2
    opposed = tables >= 16
    assert (seats[opposed] == tables[opposed] % 2).all()
    assert len(batch) < 64 * 50
    finished = game.games[16:].sum()
    counts = sampler.board.counts()
    assert counts.outcomes.sum() == finished
    assert (counts.outcomes.sum((2, 3)) > 0).all()


def test_games_begun_are_played_out_and_counted_once() -> None:
    game = ConnectFour(tables=64)
    sampler = sampler_for(game, [0.0, 1.0], {0: make_bot("random", game.spec)}, steps=10)
    sampler.collect()
    begun = int(game.games.sum()) + int((game.plies > 0).sum())
    while sampler.play_out(3):
        pass
    assert sampler.board.counts().outcomes.sum() == begun
    assert sampler.play_out(5) == 0
    assert sampler.board.counts().outcomes.sum() == begun


def test_returns_are_summed_for_both_sides_beside_the_results() -> None:
    game = KuhnPoker(tables=64)
    bots = {0: make_bot("random", game.spec), 1: make_bot("first-legal", game.spec)}
    sampler = sampler_for(game, [0.0, 0.5, 0.5], bots, steps=40)
    sampler.collect()
    counts = sampler.board.counts()
    assert counts.single_team_returns is None
    assert counts.earned.shape == (2, 2, 2, 2)
    own, other = counts.earned[..., 0], counts.earned[..., 1]
    assert (own == -other).all(), "the game is zero-sum"
    wins, losses = counts.outcomes[..., 0], counts.outcomes[..., 2]
    assert (np.abs(own) <= 2 * (wins + losses)).all()
    assert own.sum() == counts.returns, "every game here has an opponent and one learning seat"
    assert (own != wins - losses).any(), "pots differ, so returns are not wins"


def test_seats_that_do_not_share_a_zero_sum_are_counted_each_by_its_own() -> None:
    game = Countdown(tables=6, length=4)
    sampler = sampler_for(game, [0.0, 1.0], {0: make_bot("first-legal", game.spec)}, steps=4)
    sampler.collect()
    counts = sampler.board.counts()
    # seat 0 moves last and gets 2, the others -1; each of two tables' learners sits in each seat
    assert counts.earned[0, 0, 1].tolist() == [4.0, -2.0]
    assert counts.earned[0, 1, 2].tolist() == [-2.0, -2.0]


def test_a_game_of_one_seat_counts_the_returns_of_all_games_begun() -> None:
    game = Solitaire(tables=8)
    sampler = sampler_for(game, [1.0], {}, steps=3)
    sampler.collect()
    while sampler.play_out(2):
        pass
    alone = sampler.board.counts().single_team_returns
    # games of 1 to 4 steps return their length: in 3 steps each table began the games that these have to be
    lengths = [length for table in range(8) for length in begun(1 + table % 4, 3)]
    assert alone is not None
    assert (alone.games, alone.mean) == (len(lengths), pytest.approx(np.mean(lengths)))
    assert alone.deviations == pytest.approx(np.square(np.array(lengths) - np.mean(lengths)).sum())


def test_a_game_beyond_its_bound_is_not_played_out_for_ever() -> None:
    sampler = sampler_for(Endless(tables=2), [1.0], {}, steps=3)
    sampler.collect()
    assert sampler.play_out(4) == 2
    with pytest.raises(BadGame, match="solitaire: a game is longer than its max_steps, 4"):
        sampler.play_out(1)


def test_short_games_are_not_favoured() -> None:
    """A fair coin game in which wins are quicker than losses still tallies as fair."""
    rng = np.random.default_rng(1)
    wins = games = 0
    for _ in range(400):
        seating = seat(tables=8, teams=(0, 1), shares=[0.0, 1.0], rng=rng)
        board = TallyBoard(seating)
        left, won = np.zeros(8, np.int64), np.zeros(8, np.bool_)

        def deal(tables: np.ndarray, left: np.ndarray = left, won: np.ndarray = won) -> None:
            won[tables] = rng.random(len(tables)) < 0.5
            left[tables] = np.where(won[tables], 1, 8)

        def step(board: TallyBoard = board, left: np.ndarray = left, won: np.ndarray = won) -> None:
            left -= 1
            done = left == 0
            mine = np.where(won, 1.0, -1.0) * done
            rewards = np.zeros((8, 2), np.float32)
            rewards[np.arange(8), np.arange(8) % 2] = mine
            rewards[np.arange(8), 1 - np.arange(8) % 2] = -mine
            board.step(rewards, done)
            deal(np.flatnonzero(done))

        deal(np.arange(8))
        for _ in range(12):
            step()
        board.count_only_running_games()
        while board.waiting:
            step()
        outcome = board.counts().outcomes.sum((0, 1, 2))
        wins, games = wins + int(outcome[0]), games + int(outcome.sum())
    assert abs(wins / games - 0.5) < 4 * 0.5 / games**0.5


def test_more_seats_are_compared_pairwise_by_final_order() -> None:
    game = Countdown(tables=6, length=5)
    sampler = sampler_for(game, [0.0, 1.0], {0: policy_for(game)}, steps=5)
    batch = sampler.collect()
    outcomes = sampler.board.counts().outcomes[0]
    # Seat 1 moves last and wins; the two losers draw with each other.
    assert outcomes.sum(1).tolist() == [[0, 2, 2], [4, 0, 0], [0, 2, 2]]
    assert outcomes[0].tolist() == [[0, 0, 0], [0, 0, 2], [0, 2, 0]], "lost to seat 1, drew with seat 2"
    assert batch.rewards[batch.next_row == TERMINAL].tolist().count(2.0) == 2
    np.testing.assert_allclose(
        gae(batch, 1.0, 1.0).returns, np.where(batch.streams % 3 == 1, 2.0, -1.0), rtol=1e-5, atol=1e-5
    )


def test_games_cut_off_are_not_taken_for_ended() -> None:
    batch = sampler_for(Countdown(tables=4, length=4, cut=True), [1.0], steps=8).collect()
    assert TERMINAL not in batch.next_row
    assert len(batch.finals) == 4 * 2 and (batch.next_row == PENDING).sum() == 4 * 2 * 3
    last = np.flatnonzero(batch.truncated)
    assert (batch.observations[batch.next_row[last]] == [1.0, 4.0]).all(), "seat 1 would have been to move"
    assert (batch.streams[last] == batch.streams[batch.next_row[last]]).all()
    values = policy_for(Countdown(tables=1)).decide(batch.observations, batch.legal, None).values
    np.testing.assert_allclose(batch.values, values, rtol=1e-6)


def test_seats_that_left_a_game_before_it_was_cut_off_had_ended() -> None:
    batch = sampler_for(Leaving(tables=2), [1.0], steps=4).collect()
    assert batch.seat.tolist() == [0, 1, 0, 1, 0, 0] * 2 + [0] * 4
    ended, cut = batch.next_row == TERMINAL, batch.truncated
    assert batch.seat[ended].tolist() == [1] * 4 and batch.seat[cut].tolist() == [0] * 4
    assert batch.rewards[ended].tolist() == [-1.0] * 4
    assert batch.observations[batch.finals].tolist() == [[2.0, 0.0]] * 4


def test_tables_that_explore_at_rates_of_their_own_may_be_cut_off_several_times() -> None:
    game = Countdown(tables=3, length=4, cut=True)
    sampler = sampler_for(game, [1.0], steps=12, learner=EpsilonGreedy(policy_for(game).model))
    sampler.explore = np.array([0.0, 0.5, 1.0], np.float32)
    batch = sampler.collect()
    assert len(batch.finals) == 3 * 3 and (batch.observations[batch.finals] == [1.0, 4.0]).all()


def test_a_recurrent_learner_sees_the_final_observation_with_its_last_state() -> None:
    game = Countdown(tables=2, length=4, cut=True)
    learner = policy_for(game, GruNet)
    batch = sampler_for(game, [1.0], steps=4, learner=learner).collect()
    last = np.flatnonzero(batch.truncated)
    decided = learner.decide(batch.observations[last], batch.legal[last], None, batch.states[last])
    np.testing.assert_allclose(batch.states[batch.next_row[last]], decided.states, rtol=1e-5, atol=1e-6)


def test_all_seats_of_a_simultaneous_game_decide_at_once() -> None:
    game = RockPaperScissors(tables=8)
    batch = sampler_for(game, [1.0], steps=3).collect()
    assert len(batch) == 3 * 8 * 2
    opposed = sampler_for(game, [0.0, 0.5, 0.5], {0: policy_for(game, seed=1), 1: policy_for(game, seed=2)}, steps=3)
    assert len(opposed.collect()) == 3 * 8
    assert opposed.board.counts().outcomes.sum() == 3 * 8


def test_two_perceptrons_in_a_group_play_bit_for_bit_as_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = []
    for grouped in (True, False):
        game = ConnectFour(tables=64)
        opponents: dict[int, Policy | Bot] = {0: policy_for(game, seed=1), 1: policy_for(game, seed=2)}
        if not grouped:
            monkeypatch.setattr(opponents_module, "architecture", lambda policy: None)
        sampler = sampler_for(game, [0.0, 0.5, 0.5], opponents)
        assert len(sampler._opponents._batches) == (1 if grouped else 2)
        batches.append(sampler.collect())
    np.testing.assert_array_equal(batches[0].observations, batches[1].observations)
    np.testing.assert_array_equal(batches[0].actions, batches[1].actions)


def test_recurrent_players_remember_within_a_game_and_not_beyond() -> None:
    game = TicTacToe(tables=4)
    learner = policy_for(game, GruNet)
    batch = sampler_for(game, [0.5, 0.5], {0: policy_for(game, GruNet, seed=1)}, learner=learner).collect()
    first = batch.observations.reshape(len(batch), -1).sum(1) <= 1.0  # nothing, or one stone of the other's
    assert (batch.states[first] == 0.0).all() and first.sum() > 8
    followed = batch.next_row[batch.next_row >= 0]
    assert (np.abs(batch.states[followed]).sum(1) > 0).all()


@pytest.mark.parametrize(("shares", "blocks"), [([0.0, 0.5, 0.25, 0.25], 4), ([0.0, 0.45, 0.55], 64)])
def test_neighbouring_blocks_of_a_perceptron_run_as_one_where_all_stay_of_one_size(
    shares: list[float], blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = []
    for merges in (True, False):
        game = ConnectFour(tables=128)
        opponents: dict[int, Policy | Bot] = {n: policy_for(game, seed=n + 1) for n in range(len(shares) - 1)}
        if not merges:
            monkeypatch.setattr(opponents_module, "_merged", lambda blocks: blocks)
        sampler = sampler_for(game, shares, opponents, steps=20)
        (group,) = sampler._opponents._batches
        assert group._blocks == (blocks if merges else 64)  # type: ignore[attr-defined]
        batches.append(sampler.collect())
    for name, column in batches[0].columns.items():
        np.testing.assert_array_equal(column, batches[1].columns[name], err_msg=name)
