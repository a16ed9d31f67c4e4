"""Teams: who is seated with whom, and what is counted for whom."""

import numpy as np
import pytest

from tests.unit.training.samples import Relay
from workers.bots.names import make_bot
from workers.bots.protocol import Bot
from workers.games.adapters.pettingzoo import ParallelGame
from workers.games.errors import BadGame
from workers.games.protocol import GameSpec
from workers.games.teams import declared_teams
from workers.inference.policy import Policy
from workers.models.mlp import Mlp
from workers.rollout.sampler import Sampler
from workers.rollout.seating import LEARNER, seat
from workers.rollout.tally import TallyBoard


def spec(seats: int, teams: tuple[int, ...] = ()) -> GameSpec:
    return GameSpec(id="g", seats=seats, actions=2, observation_shape=(1,), max_steps=1, teams=teams)


def test_each_seat_is_a_team_unless_the_game_says_otherwise() -> None:
    assert spec(3).teams == (0, 1, 2)
    assert spec(4, (0, 1, 0, 1)).team_count == 2
    assert (spec(2, (0, 0)).team_count, spec(2, (0, 0)).scoring) == (1, "returns")
    assert (spec(1).scoring, spec(2).scoring) == ("returns", "outcome")


@pytest.mark.parametrize(
    ("teams", "problem"),
    [
        ((0, 1, 0), "name 3 seats, the game has 4"),
        ((0, 0, 2, 2), "numbered \\[0, 2\\]"),
        ((1, 1, 2, 2), "without a gap"),
    ],
)
def test_teams_that_leave_a_seat_or_a_number_out_are_refused(teams: tuple[int, ...], problem: str) -> None:
    with pytest.raises(BadGame, match=problem):
        spec(4, teams)


def test_an_adapter_reads_teams_by_seat_or_by_name() -> None:
    agents = ["red_0", "blue_0", "red_1", "blue_1"]
    assert declared_teams(None, agents, "g") == declared_teams("each", agents, "g") == (0, 1, 2, 3)
    assert declared_teams("one", agents, "g") == (0, 0, 0, 0)
    assert declared_teams([0, 1, 0, 1], agents, "g") == (0, 1, 0, 1)
    assert declared_teams({"red": 0, "blue": 1}, agents, "g") == (0, 1, 0, 1)
    assert declared_teams({"red": 0, "red_1": 1, "blue": 1}, agents, "g") == (0, 1, 1, 1), "the longest prefix counts"
    with pytest.raises(BadGame, match="no prefix of teams fits agent 'blue_0'; given: red"):
        declared_teams({"red": 0}, agents, "g")
    with pytest.raises(BadGame, match="allowed: each, one"):
        declared_teams("pairs", agents, "g")  # type: ignore[arg-type]


@pytest.mark.parametrize("teams", [(0, 1, 0, 1), (0, 1, 1, 1), (0, 0, 1, 2)])
def test_a_team_has_one_owner_and_teams_take_turns(teams: tuple[int, ...]) -> None:
    seating = seat(tables=120, teams=teams, shares=[0.0, 0.5, 0.5], rng=np.random.default_rng(0))
    mine = seating.owner == LEARNER
    for table in range(120):
        assert {teams[s] for s in np.flatnonzero(mine[table])} == {table % (max(teams) + 1)}
        assert mine[table].sum() == teams.count(table % (max(teams) + 1))
        assert len(set(seating.owner[table])) == 2


def play(game: Relay, opponents: dict[int, Bot], steps: int) -> Sampler:
    rng = np.random.default_rng(0)
    game.reset(np.zeros(game.tables, np.uint64))
    seating = seat(
        tables=game.tables, teams=game.spec.teams, shares=[0.0] + [1 / len(opponents)] * len(opponents), rng=rng
    )
    model = Mlp(observation_shape=(1,), actions=3)
    for parameter in model.parameters():
        parameter.data.zero_()
    model.heads.bias.data[1] = 50.0  # always action 1
    sampler = Sampler(game=game, seating=seating, learner=Policy(model), opponents=opponents, steps=steps, rng=rng)
    sampler.collect()
    return sampler


def test_two_against_two_are_counted_by_team() -> None:
    """The learner plays 1 in both its seats: it beats mates that play 0, draws with 1 and loses to 2."""
    game = Relay(tables=12)
    bots = {number: make_bot(f"always-{number}", game.spec) for number in range(3)}
    counts = play(game, bots, steps=5).board.counts()
    # 12 tables, four with each opponent, the learner's team in turn: two tables for each team, five games each
    wins, draws, losses = (np.moveaxis(counts.outcomes, 3, 0)[column] for column in range(3))
    assert wins[0].tolist() == draws[1].tolist() == losses[2].tolist() == [[0, 10], [10, 0]]
    assert counts.outcomes.sum() == 60
    assert counts.earned[0, 0, 1].tolist() == [10.0, 0.0], "three quarters and a quarter of 1 a game"
    assert (counts.teams_played, counts.returns) == (60, 20.0)


def test_one_against_three_are_counted_by_team() -> None:
    game = Relay(tables=8, teams=(0, 1, 1, 1))
    counts = play(
        game, {0: make_bot("always-2", game.spec), 1: make_bot("always-0", game.spec)}, steps=3
    ).board.counts()
    # alone, 1 against 2 + 2 + 2 loses; together, 1 + 1 + 1 against 2 wins
    assert counts.outcomes[0, 0, 1].tolist() == [0, 0, 6]
    assert counts.outcomes[0, 1, 0].tolist() == [6, 0, 0]
    assert counts.outcomes[1, :, :, 0].sum() == 12, "zeros never win"


def test_one_team_counts_the_sum_of_its_returns() -> None:
    seating = seat(tables=3, teams=(0, 0), shares=[1.0], rng=np.random.default_rng(0))
    assert (seating.owner == LEARNER).all()
    board = TallyBoard(seating)
    board.step(np.array([[1, 2], [3, 4], [5, 6]], np.float32), np.array([True, False, False]))
    board.count_only_running_games()
    assert board.waiting == 2
    board.step(np.array([[9, 9], [1, 1], [1, 1]], np.float32), np.array([True, True, True]))
    counts = board.counts()
    assert counts.single_team_returns is not None
    assert (counts.single_team_returns.games, counts.single_team_returns.mean) == (3, pytest.approx((3 + 9 + 13) / 3))
    assert counts.returns / counts.teams_played == pytest.approx((3 + 9 + 13) / 3)


def test_agents_of_a_pettingzoo_game_sit_with_their_mates() -> None:
    """Three agents, "a" against "b" and "c": the seats of a team are the learner's or the opponent's, never both."""
    env = "tests.unit.games.environments:Survivors"
    game = ParallelGame(tables=4, env=env, teams={"a": 0, "b": 1, "c": 1})
    assert (game.spec.teams, game.spec.team_count, game.teams_question) == ((0, 1, 1), 2, None)
    seating = seat(tables=4, teams=game.spec.teams, shares=[0.0, 1.0], rng=np.random.default_rng(0))
    assert (seating.owner == LEARNER).tolist() == [[True, False, False], [False, True, True]] * 2
    assert ParallelGame(tables=1, env=env).spec.team_count == 3, "a trial that began without teams goes on"
