"""Recorded games as rows of decisions, and the files that `lanista data export` makes of them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from api.schemas.enums import MatchResult
from lanista.datasets import GameFilter, export_games
from orchestrator.spec.algorithms.imitation import DatasetOptions
from workers.buffers.demonstrations import Demonstrations
from workers.games.decisions import CUT_OFF, ENDED, decisions_of
from workers.games.errors import BadGame
from workers.games.names import make_game

TIC_TAC_TOE = partial(make_game, "tic_tac_toe")
MOVES = [0, 3, 1, 4, 2]
"""The first seat takes the top row."""


def test_a_game_becomes_rows_with_links_and_rewards() -> None:
    found = decisions_of(TIC_TAC_TOE, 5, MOVES)
    assert found.seat.tolist() == [0, 1, 0, 1, 0]
    assert found.next_row.tolist() == [2, 3, 4, ENDED, ENDED]
    assert found.columns["action"].tolist() == MOVES
    assert found.columns["reward"].tolist() == [0, 0, 0, -1, 1], "the loser's last decision bears the loss"
    assert found.columns["legal"][:, 0].tolist() == [True, False, False, False, False]
    assert found.columns["obs"].shape == (5, *TIC_TAC_TOE(1).spec.observation_shape)
    assert not found.columns["obs"][0].any() and found.columns["obs"][4].any()


def test_rows_that_are_left_out_are_passed_over() -> None:
    found = decisions_of(TIC_TAC_TOE, 5, MOVES)
    assert found.only(found.seat == 0).next_row.tolist() == [1, 2, ENDED]
    assert found.only(found.ply >= 2).next_row.tolist() == [2, ENDED, ENDED]
    assert found.only(found.ply != 2).next_row.tolist() == [3, 2, ENDED, ENDED]


def test_a_record_that_is_no_whole_game_is_refused() -> None:
    with pytest.raises(BadGame, match="the game goes on"):
        decisions_of(TIC_TAC_TOE, 5, MOVES[:-1])
    with pytest.raises(BadGame, match="ended after 5 of 6"):
        decisions_of(TIC_TAC_TOE, 5, [*MOVES, 7])


def test_a_game_that_was_cut_off_says_so() -> None:
    make = partial(make_game, "gymnasium", env="CartPole-v1", max_steps=3)
    assert decisions_of(make, 1, [0, 1, 0]).next_row.tolist() == [1, 2, CUT_OFF]


class League:
    """As much of a client as an export needs: 40 games between main and rival, which take turns to begin."""

    def __init__(self) -> None:
        self.games = [self._match(number) for number in range(40)]

    def _match(self, number: int) -> Any:
        winner_first = number % 2 == 0
        return SimpleNamespace(
            id=number,
            seed=number,
            moves=MOVES,
            seat=number % 2,
            player="main",
            version_number=number // 20,
            opponent="rival",
            opponent_version_number=7,
            result=MatchResult.WIN if winner_first else MatchResult.LOSS,
            opening={"plies": 1} if number == 0 else None,
            moves_pruned_at=None,
        )

    def find_player(self, trial: object, name: str) -> Any:
        return SimpleNamespace(id=name)

    def matches(self, trial: object, **query: Any) -> Any:
        return iter(self.games)

    def match(self, number: int) -> Any:
        return self.games[number]


def export(folder: Path, **which: Any) -> Any:
    trial: Any = SimpleNamespace(spec={"game": {"id": "tic_tac_toe"}})
    league: Any = League()
    return export_games(league, trial, folder, GameFilter(**which), validation=0.25)


def rows_in(folder: Path) -> int:
    return sum(len(np.load(path)["action"]) for path in folder.glob("*.npz"))


def test_an_export_holds_whole_games_apart(tmp_path: Path) -> None:
    made = export(tmp_path / "all")
    assert (made.games, made.train_rows + made.validation_rows) == (40, 40 * 5 - 1), "one opening move is left out"
    assert [path.name for path in made.files] == ["train-00000.npz", "validation-00000.npz"]
    train, held = (np.load(path) for path in made.files)
    assert 0 < made.validation_rows < made.train_rows
    assert not set(train["game"].tolist()) & set(held["game"].tolist())
    options = DatasetOptions(dataset=(str(made.files[0]),), validation_dataset=(str(made.files[1]),))
    data = Demonstrations(options, TIC_TAC_TOE(1).spec, gamma=1.0)
    assert len(data) == made.train_rows
    assert data.validation is not None and len(data.validation) == made.validation_rows
    with pytest.raises(FileExistsError, match="not empty"):
        export(tmp_path / "all")


def test_games_whose_moves_were_pruned_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = League.matches

    def pruned(league: Any, trial: object, **query: Any) -> Any:
        for game in whole(league, trial):
            if game.id < 10:
                game.moves, game.moves_pruned_at = None, datetime.now(UTC)
            yield game

    monkeypatch.setattr(League, "matches", pruned)
    assert export(tmp_path / "all").games == 30
    assert export(tmp_path / "few", games=25).games == 25, "they do not count among the games that are asked for"


def test_an_export_of_one_side_has_its_decisions_alone(tmp_path: Path) -> None:
    # main begins in even games and wins them; in odd ones it is second and loses
    assert (export(tmp_path / "main", player="main").games, rows_in(tmp_path / "main")) == (40, 20 * 3 - 1 + 20 * 2)
    export(tmp_path / "won", player="main", winners=True)
    assert rows_in(tmp_path / "won") == 20 * 3 - 1
    export(tmp_path / "old", player="main", version=1)
    assert rows_in(tmp_path / "old") == 10 * 3 + 10 * 2
    export(tmp_path / "few", games=4)
    assert rows_in(tmp_path / "few") == 4 * 5 - 1
