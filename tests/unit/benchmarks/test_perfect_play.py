"""The benchmark of perfect play: sets by ply and distance, shares of moves that keep the value, games and rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.peers.searching.positions import Judged
from benchmarks.perfect_play import __main__ as benchmark
from benchmarks.perfect_play import sets
from benchmarks.perfect_play.judging import games_against_solver, shares
from benchmarks.perfect_play.players import bot_player
from benchmarks.perfect_play.training import ALPHAZERO, PRESETS, spec_of
from orchestrator.spec.reading.checking import check_spec

WIN_NOW = Judged(moves=(3, 0, 3, 0, 3, 0), scores=(-3, -3, -3, 18, -3, -3, -3))
"""The first player wins with its fourth stone."""
LOST_NOW = Judged(moves=(3, 0, 3, 0, 3, 0, 6, 0), scores=(-18, -18, -18, 1, None, -18, -18))


def test_how_far_the_end_is_follows_from_the_score() -> None:
    assert sets.remaining(WIN_NOW) == 1 and sets.set_of(WIN_NOW) == "begin-easy"
    drawn = Judged(moves=(3,) * 6, scores=(0, -1, -1, None, -1, -1, -1))
    assert sets.remaining(drawn) == 36 and sets.set_of(drawn) == "begin-hard"
    loses = Judged(moves=(3, 0, 3, 0, 3), scores=(-2, -3, -3, -2, -3, -3, -3))
    # the opponent, who moved first, will have 20 stones: the last of them is move 39
    assert sets.remaining(loses) == 34
    late = Judged(moves=(0, 1) * 10, scores=(5, -1, -1, None, -1, -1, -1))
    assert sets.remaining(late) == 13 and sets.set_of(late) == "middle-easy"


def test_sets_are_filled_without_repetition_and_solved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def solved(asked: Sequence[Sequence[int]]) -> list[Judged]:
        calls.append(len(asked))
        near, far = (0, 0, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0, 0)
        found = []
        for number, moves in enumerate(asked):
            # draws are as far as the board is long; a win with the next stone is near
            stones = len(moves) // 2 + 1 + (number % 2) * 8
            scores = near if number % 3 == 0 else tuple((22 - stones) * each for each in far)
            found.append(Judged(moves=tuple(moves), scores=scores))
        return found

    monkeypatch.setattr(sets, "solved", solved)
    first = sets.position_sets(4, tmp_path)
    assert list(first) == list(sets.SETS) and all(len(rows) == 4 for rows in first.values())
    assert all(sets.set_of(each) == name for name, rows in first.items() for each in rows)
    everything = [each.moves for rows in first.values() for each in rows]
    assert len({sets.board(moves) for moves in everything}) == len(everything)
    before = len(calls)
    assert sets.position_sets(4, tmp_path) == first and len(calls) == before


def test_orders_of_moves_that_lead_to_one_position_count_once() -> None:
    assert sets.board((3, 0, 4)) == sets.board((4, 0, 3)) != sets.board((3, 4, 0))
    assert sets.board((3, 3, 3)) != sets.board((3, 3))


def test_shares_count_all_positions_and_those_that_matter() -> None:
    level = Judged(moves=(3,), scores=(1, 1, 1, 1, 1, 1, 1))
    found = shares(lambda moves: np.array([3, 0, 0])[: len(moves)], {"some": [WIN_NOW, LOST_NOW, level]})
    assert found["some"] == {"positions": 3, "keeps": 0.6667, "mattering": 2, "keeps_where_it_matters": 0.5}


def one_column_solver(asked: Sequence[Sequence[int]]) -> list[Judged]:
    """A solver that always finds column 3 best, then the nearest to it that has room."""
    found = []
    for moves in asked:
        room = [moves.count(column) < 6 for column in range(7)]
        order = sorted(range(7), key=lambda column: abs(column - 3))
        best = next(column for column in order if room[column])
        found.append(
            Judged(moves=tuple(moves), scores=tuple((5 if c == best else -5) if room[c] else None for c in range(7)))
        )
    return found


def test_games_against_the_solver_are_played_to_their_end_from_both_sides() -> None:
    stacks_left = lambda moves: np.array([0 if list(each).count(0) < 6 else 1 for each in moves])  # noqa: E731
    first = games_against_solver(stacks_left, 2, first=True, seed=1, solve=one_column_solver)
    # both stack a column of their own, and whoever began has four stones first; none of its moves was the solver's
    assert (first["wins"], first["losses"], first["length"], first["held"]) == (2, 0, 7.0, 0.0)
    second = games_against_solver(stacks_left, 2, first=False, seed=1, solve=one_column_solver)
    assert (second["wins"], second["losses"], second["length"]) == (0, 2, 7.0)


def test_a_bot_chooses_in_positions_of_different_lengths() -> None:
    columns = bot_player("mcts-100")([WIN_NOW.moves, (), (0,) * 6])
    assert columns[0] == 3 and columns[2] != 0
    assert columns.tolist() == bot_player("mcts-100")([WIN_NOW.moves, (), (0,) * 6]).tolist()


@pytest.mark.parametrize("by", [*PRESETS, ALPHAZERO])
def test_its_trials_are_valid(by: str) -> None:
    spec = check_spec(spec_of(by, 10, 1))
    assert spec.budget.wall_clock is not None and spec.budget.wall_clock.total_seconds() == 600
    assert len(spec.league.players) == (3 if by == "alphastar" else 1)


def test_what_is_there_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def run(by: str, seed: int, given: Any) -> dict[str, Any]:
        ran.append(by)
        return {"network": {}}

    monkeypatch.setattr(benchmark, "run", run)
    for by in ("mcts-100", "mcts-100,pfsp"):
        monkeypatch.setattr("sys.argv", ["perfect_play", "--json", "--by", by, "--file", str(tmp_path / "rows.json")])
        benchmark.main()
    assert ran == ["mcts-100", "pfsp"]
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert list(printed["rows"]) == [
        "mcts-100, seed 1, 1000 positions a set",
        "pfsp, 10 minutes, seed 1, 1000 positions a set",
    ]
    monkeypatch.setattr("sys.argv", ["perfect_play", "--by", "chess"])
    with pytest.raises(SystemExit, match="allowed are self_play"):
        benchmark.main()
