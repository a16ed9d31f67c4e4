"""What the benchmark of search counts as an error, and the trials that it runs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.peers.searching import positions
from benchmarks.peers.searching.positions import Judged, judged_positions, random_moves
from benchmarks.strength import search_strength
from benchmarks.strength.search_strength import CASES, spec_of
from orchestrator.spec.reading.checking import check_spec
from workers.games.names import make_game

WON = Judged(moves=(3, 2), scores=(5, 1, 0, -3, None, -1, 0))


def test_a_move_that_gives_the_value_away_is_an_error() -> None:
    assert WON.matters and WON.keeps(0) and WON.keeps(1), "a slower win is a win"
    assert not WON.keeps(2) and not WON.keeps(3) and not WON.keeps(4)
    assert not Judged(moves=(), scores=(-1, -4, -2, None, -1, -1, -1)).matters, "all is lost anyhow"


def test_positions_are_reached_by_legal_moves_and_not_over() -> None:
    rng = np.random.default_rng(1)
    for moves in filter(None, (random_moves(rng) for _ in range(20))):
        game = make_game("connect_four", 1)
        game.reset(np.zeros(1, np.uint64))
        assert not any(game.step(np.array([move])).done[0] for move in moves)


def test_positions_are_solved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def solved(asked: list[list[int]]) -> list[Judged]:
        calls.append(len(asked))
        return [Judged(moves=tuple(moves), scores=(1, -1, 0, 0, 0, 0, None)) for moves in asked]

    monkeypatch.setattr(positions, "solved", solved)
    first = judged_positions(5, tmp_path)
    assert len(first) == 5 and judged_positions(5, tmp_path) == first
    assert len(calls) <= 2, "what was solved is read from the file"


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("by", ["alphazero", "ppo"])
def test_its_trials_are_valid(case: str, by: str) -> None:
    spec = check_spec(spec_of(CASES[case], by, 0.5, 1))
    assert spec.algorithm.id == by and spec.budget is not None and spec.budget.wall_clock is not None


def test_a_row_of_other_numbers_has_another_name() -> None:
    def name(case: str, positions: int, pairs: int) -> str:
        given = argparse.Namespace(
            case=case, model=None, algorithm=None, generation=None, positions=positions, pairs=pairs
        )
        return search_strength._key(given, "ppo", 5.0, 2)

    assert name("connect_four", 1000, 50) == "connect_four, ppo, 5 minutes, seed 2"
    assert name("connect_four", 200, 10) == "connect_four, ppo, 5 minutes, seed 2, 200 positions, 10 pairs"
    assert name("hex", 200, 50) == "hex, ppo, 5 minutes, seed 2", "the solver judges no Hex"


def test_what_is_there_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs: list[str] = []

    def run(case: str, by: str, minutes: float, seed: int, given: argparse.Namespace) -> dict[str, Any]:
        runs.append(f"{by} {seed}")
        return {"steps": 1}

    monkeypatch.setattr(search_strength, "run", run)
    arguments = ["x", "--json", "--case", "hex", "--by", "alphazero", "--file", str(tmp_path / "rows.json")]
    for seeds in ("1", "1,2"):
        monkeypatch.setattr("sys.argv", [*arguments, "--seeds", seeds])
        search_strength.main()
    assert runs == ["alphazero 1", "alphazero 2"]
    assert len(json.loads(capsys.readouterr().out.splitlines()[-1])) == 2
