"""Soccer against a second implementation, one table at a time; and games whose results are known by hand."""

from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import pytest

from workers.bots.names import make_bot
from workers.bots.protocol import BadBot, bot_input
from workers.games.builtin.soccer import COLUMNS, NAMES, ROWS, Soccer, kick_off
from workers.games.builtin.tic_tac_toe import TicTacToe
from workers.games.seeding import below, mix

STEPS = {"stay": (0, 0), "forward": (0, 1), "back": (0, -1), "left": (-1, 0), "right": (1, 0)}
PAID = {None: [0.0] * 4, 0: [0.5, 0.5, -0.5, -0.5], 1: [-0.5, -0.5, 0.5, 0.5]}
"""What the seats get when this team scores."""


class OneTable:
    """The rules as a person would write them down."""

    def __init__(self, ball: int) -> None:
        self.at = [(1, 1), (2, 1), (3, 5), (2, 5)]
        self.ball = ball
        self.winner: int | None = None

    def step(self, order: Sequence[int], actions: list[int]) -> None:
        for seat in order:
            if self.winner is None:
                self.move(seat, NAMES[actions[seat]])

    def move(self, seat: int, action: str) -> None:
        team, mate = seat // 2, seat ^ 1
        (row, column), sign = self.at[seat], 1 if team == 0 else -1
        if action == "pass":
            far = max(abs(a - b) for a, b in zip(self.at[seat], self.at[mate], strict=True))
            if self.ball == seat and far <= 3:
                self.ball = mate
            return
        to = (row + sign * STEPS[action][0], column + sign * STEPS[action][1])
        if self.ball == seat and action == "forward" and to[1] in (-1, COLUMNS) and 1 <= row <= 3:
            self.winner = team
        elif not (0 <= to[0] < ROWS and 0 <= to[1] < COLUMNS) or action == "stay":
            return
        elif to in self.at:
            other = self.at.index(to)
            if other // 2 != team and self.ball in (seat, other):
                self.ball = other if self.ball == seat else seat
        else:
            self.at[seat] = to

    def text(self) -> str:
        def shown(row: int, column: int) -> str:
            if (row, column) not in self.at:
                return " . "
            seat = self.at.index((row, column))
            return f"({seat})" if seat == self.ball else f" {seat} "

        lines = ["".join(shown(row, column) for column in range(COLUMNS)) for row in range(ROWS)]
        return "\n".join(f"|{line}|" if 1 <= row <= 3 else f" {line} " for row, line in enumerate(lines))


def test_random_games_go_as_the_rules_say() -> None:
    tables = 60
    game = Soccer(tables=tables)
    game.auto_reset = False
    seeds = np.arange(tables, dtype=np.uint64)
    game.reset(seeds)
    twins = [OneTable(int(ball)) for ball in kick_off(seeds)]
    rng, orders = np.random.default_rng(0), list(permutations(range(4)))
    for ply in range(40):
        running = [table for table, twin in enumerate(twins) if twin.winner is None]
        # most run forward, so that a few games have goals, collisions and tackles
        actions = np.where(rng.random(4 * tables) < 0.5, 1, rng.integers(0, 6, 4 * tables))
        drawn = below(mix(seeds, ply, 22), 24)
        result = game.step(actions)
        for table in running:
            twin = twins[table]
            twin.step(orders[drawn[table]], actions[4 * table : 4 * table + 4].tolist())
            assert game.render_text(table) == twin.text()
            assert result.done[table] == (twin.winner is not None or ply == 39)
            assert result.rewards[table].tolist() == PAID[twin.winner]
    assert {twin.winner for twin in twins} == {None, 0, 1}


def bots(game: Soccer, first: str, second: str) -> Callable[[], np.ndarray]:
    players = [make_bot(first, game.spec), make_bot(second, game.spec)]

    def act() -> np.ndarray:
        turn = game.turn()
        actions = np.zeros(len(turn.seats), np.int64)
        for team, player in enumerate(players):
            rows = np.flatnonzero(turn.seats // 2 == team)
            actions[rows] = player.act(bot_input(game, turn, rows))
        return actions

    return act


def results(first: str, second: str, tables: int = 64) -> list[float]:
    """Team 0's result of the game of each of the seeds 0, 1, ..."""
    game = Soccer(tables=tables)
    game.auto_reset = False
    game.reset(np.arange(tables, dtype=np.uint64))
    act, over, found = bots(game, first, second), np.zeros(tables, np.bool_), np.zeros(tables)
    for _ in range(40):
        result = game.step(act())
        found[~over] += 2 * result.rewards[~over, 0]
        over |= result.done
    assert over.all()
    return found.tolist()


def test_who_runs_forward_wins_where_the_lane_is_free() -> None:
    """Seats 0 and 2 have a free lane, 1 and 3 stand in each other's: only a ball in a free lane is a goal."""
    ball = kick_off(np.arange(64, dtype=np.uint64)).tolist()
    assert set(ball) == {0, 1, 2, 3}
    assert results("always-stay", "always-stay") == [0.0] * 64
    assert results("always-forward", "always-stay") == [float(seat == 0) for seat in ball]
    assert results("always-stay", "always-forward") == [-float(seat == 2) for seat in ball]
    assert results("always-forward", "always-forward") == [float(seat == 0) - float(seat == 2) for seat in ball]


def test_the_striker_beats_random_players() -> None:
    found = results("soccer-striker", "random")
    assert found.count(1.0) > 50
    assert results("random", "soccer-striker").count(-1.0) > 50
    with pytest.raises(BadBot, match="it plays soccer, not tic_tac_toe"):
        make_bot("soccer-striker", TicTacToe(tables=1).spec)


def test_each_seat_sees_itself_play_to_the_right() -> None:
    game = Soccer(tables=1)
    game.reset(np.array([3], np.uint64))
    assert kick_off(np.array([3], np.uint64)).tolist() == [2]
    seen = game.turn().observations
    own, other = seen[0], seen[2]
    assert own[0, 1, 1] == own[1, 2, 1] == own[2, 3, 5] == own[2, 2, 5] == own[3, 3, 5] == 1.0
    assert other[0, 1, 1] == other[1, 2, 1] == other[2, 3, 5] == other[2, 2, 5] == other[3, 1, 1] == 1.0
    assert seen.sum() == 4 * 5, "four seats and the ball"
    game.step(np.array([0, 0, 1, 0]))
    assert game.turn().observations[2, 0, 1, 2] == 1.0, "forward is to the right for everyone"
    assert game.turn().observations[0, 2, 3, 4] == 1.0


def test_a_position_is_drawn_for_people() -> None:
    game = Soccer(tables=1)
    game.reset(np.array([3], np.uint64))
    assert game.render_text(0).splitlines()[1:4] == [
        "| .  0  .  .  .  .  . |",
        "| .  1  .  .  .  3  . |",
        "| .  .  .  .  . (2) . |",
    ]
    assert game.render_svg(0).count("<circle") == 5
