"""What every game promises, built-in or adapted."""

import numpy as np
import pytest

from tests.unit.games.conftest import Make, play
from workers.games.builtin.connect_four import ConnectFour
from workers.games.errors import BadGame, IllegalAction
from workers.games.names import make_game
from workers.games.protocol import GameSpec
from workers.games.replay import replay


def test_a_game_is_a_function_of_its_seed_and_actions(make: Make) -> None:
    seeds = [11, 5, 5, 2**63 + 9]
    together = play(make(4), seeds, games=3)
    for seed, games in zip(seeds, together, strict=True):
        assert play(make(1), [seed], games=3) == [games]
        # Each later game is one that can be named and played again, alone and first.
        for later in games[1:]:
            assert play(make(1), [later.seed], games=1) == [[later]]
    assert together[1] == together[2]
    assert len({game.seed for table in together[1:] for game in table}) == 6


def test_a_record_replays_to_the_same_end(make: Make) -> None:
    for (game,) in play(make(5), [3, 1, 4, 1, 5], games=1):
        positions = list(replay(make, game.seed, game.actions))
        assert positions[-1].done
        assert positions[-1].seats == positions[-1].actions == ()
        assert positions[-1].returns == pytest.approx(game.returns)
        assert [action for position in positions for action in position.actions] == list(game.actions)
        assert all(
            action in legal
            for position in positions
            for action, legal in zip(position.actions, position.legal, strict=not position.done)
        )


def test_a_table_can_be_given_another_game_while_others_go_on(make: Make) -> None:
    game, alone = make(2), make(1)
    game.reset(np.array([1, 2], np.uint64))
    game.step(np.argmax(game.turn().legal, axis=1))
    before = game.render_text(0), game.history(0)
    game.start(np.array([1]), np.array([77], np.uint64))
    alone.reset(np.array([77], np.uint64))
    assert (game.render_text(0), game.history(0)) == before
    assert (game.render_text(1), game.history(1)) == (alone.render_text(0), alone.history(0))
    turn, expected = game.turn(), alone.turn()
    assert turn.observations[turn.tables == 1].tolist() == expected.observations.tolist()
    assert game.game_seeds[1] == 77


def test_turns_have_the_promised_rows(make: Make) -> None:
    game = make(6)
    spec = game.spec
    game.reset(np.arange(6, dtype=np.uint64))
    rng = np.random.default_rng(0)
    for _ in range(60):
        turn = game.turn()
        rows = 6 * spec.seats if spec.simultaneous else 6
        assert turn.observations.shape == (rows, *spec.observation_shape)
        assert turn.observations.dtype == spec.observation.dtype
        assert turn.legal.shape == (rows, spec.actions)
        assert turn.legal.dtype == np.bool_
        assert turn.legal.any(axis=1).all()
        if spec.simultaneous:
            assert turn.tables.tolist() == np.repeat(np.arange(6), spec.seats).tolist()
            assert turn.seats.tolist() == list(range(spec.seats)) * 6
        else:
            assert turn.tables.tolist() == list(range(6))
        plies = game.plies.copy()
        result = game.step(np.argmax(turn.legal * rng.random(turn.legal.shape), axis=1))
        assert result.rewards.shape == (6, spec.seats)
        assert result.rewards.dtype == np.float32
        assert not (result.truncated & ~result.done).any()
        assert game.plies.tolist() == np.where(result.done, 0, plies + 1).tolist()
        assert game.plies.max() < spec.max_steps


def test_history_is_the_actions_so_far(make: Make) -> None:
    game = make(3)
    game.reset(np.array([8, 9, 10], np.uint64))
    has_chance = any(name in game.spec.id for name in ("kuhn", "leduc", "goofspiel"))
    rng = np.random.default_rng(1)
    mine: list[int] = []
    for _ in range(40):
        turn = game.turn()
        actions = np.argmax(turn.legal * rng.random(turn.legal.shape), axis=1)
        mine += actions[turn.tables == 1].tolist()
        if game.step(actions).done[1]:
            mine.clear()
        # Chance outcomes stand among the actions, in their order.
        rest = iter(game.history(1))
        assert all(action in rest for action in mine)
        assert has_chance or game.history(1) == mine


@pytest.mark.parametrize("action", [-1, 99])
def test_an_action_out_of_range_is_refused_by_name(make: Make, action: int) -> None:
    game = make(3)
    game.reset(np.arange(3, dtype=np.uint64))
    turn = game.turn()
    row = int(np.flatnonzero(turn.tables == 2)[-1])
    actions = np.argmax(turn.legal, axis=1)
    actions[row] = action
    with pytest.raises(IllegalAction, match=rf"seat {turn.seats[row]} at table 2 chose action {action};") as caught:
        game.step(actions)
    assert caught.value.allowed == np.flatnonzero(turn.legal[row]).tolist()


def test_a_full_column_is_refused_and_nothing_moves() -> None:
    game = ConnectFour(tables=2)
    game.reset(np.arange(2, dtype=np.uint64))
    for other in (0, 1, 2, 0, 1, 2):
        game.step(np.array([3, other]))
    before = game.render_text(0), game.render_text(1), game.history(1)
    with pytest.raises(
        IllegalAction, match=r"connect_four: seat 0 at table 0 chose action 3; legal there: \[0, 1, 2, 4"
    ):
        game.step(np.array([3, 0]))
    assert (game.render_text(0), game.render_text(1), game.history(1)) == before


def test_actions_and_seeds_of_the_wrong_kind_are_refused() -> None:
    game = ConnectFour(tables=2)
    with pytest.raises(BadGame, match=r"uint64 seeds of shape \(2,\), not int64"):
        game.reset(np.arange(2))  # type: ignore[arg-type]
    with pytest.raises(BadGame, match=r"shape \(2,\), not uint64 of shape \(3,\)"):
        game.reset(np.arange(3, dtype=np.uint64))
    with pytest.raises(BadGame, match=r"int64 actions of shape \(2,\), one per row of turn\(\), not float64"):
        game.step(np.zeros(2))  # type: ignore[arg-type]
    with pytest.raises(BadGame, match="tables must be at least 1, not 0"):
        ConnectFour(tables=0)


def test_a_spec_checks_itself() -> None:
    with pytest.raises(BadGame, match="odd: seats must be at least 1, not 0"):
        GameSpec(id="odd", seats=0, actions=2, observation_shape=(1,), max_steps=3)
    with pytest.raises(BadGame, match="odd: 1 action names for 2 actions"):
        GameSpec(id="odd", seats=1, actions=2, observation_shape=(1,), max_steps=3, action_names=("a",))


@pytest.mark.parametrize(
    ("id", "options", "actions", "called"),
    [
        ("rock_paper_scissors", {}, [2, 0], ["scissors", "rock"]),
        ("kuhn_poker", {}, [0, 1], ["pass", "bet"]),
        ("connect_four", {}, [5], ["5"]),
        ("openspiel", {"game": "chess"}, [3572, 1258], ["Nf3", "c5"]),
    ],
)
def test_actions_go_by_the_names_people_use(id: str, options: dict, actions: list[int], called: list[str]) -> None:
    positions = replay(lambda tables: make_game(id, tables, **options), 0, actions)
    assert [name for position in positions for name in position.names] == called


def test_a_record_that_does_not_fit_the_game_is_refused() -> None:
    def make(tables: int) -> ConnectFour:
        return ConnectFour(tables=tables)

    with pytest.raises(BadGame, match="ended after 7 of 8 recorded actions"):
        list(replay(make, 0, [0, 1, 0, 1, 0, 1, 0, 5]))
    unfinished = list(replay(make, 0, [3]))
    assert [position.done for position in unfinished] == [False, False]
    assert unfinished[-1].seats == (1,)
