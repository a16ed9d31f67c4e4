"""What counts as going on when RLlib's league is hit, and what a restored one is compared with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.faults import peer_kills
from benchmarks.faults.peer_kills import PeerLeague, Row


def line(iteration: int, *, saved: bool | None) -> Row:
    told = {} if saved is None else {"saved": saved}
    found = ["main"] * iteration
    return {
        "iteration": iteration,
        "steps": 1000 * iteration,
        "league": found,
        "networks": found,
        "trained": found,
    } | told


class League(PeerLeague):
    """A league whose lines after a kill, and after a restore, are written down."""

    def __init__(self, before: list[Row], after: list[Row], restored: list[Row], *, hangs: bool = False) -> None:
        self.folder = Path()
        self._told, self._after, self._restored = before, after, restored
        self._hangs, self._killed, self.did = hangs, False, list[str]()

    def lines(self) -> list[Row]:
        return list(self._told)

    def kill(self, kind: str) -> None:
        self.did.append(f"kill {kind}")
        self._killed = True
        if len(self.did) == 1:
            self._told = self._told + self._after

    def driver_lives(self) -> bool:
        return self._hangs or not self._killed

    def head_lives(self) -> bool:
        return "kill ray head" not in self.did

    def stop(self) -> None:
        self.did.append("stop")

    def start_head(self) -> None:
        self.did.append("head")

    def start_driver(self, *, restore: bool) -> None:
        assert restore
        self.did.append("restore")
        self._told = self._told + self._restored


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_kills, "ALONE_SECONDS", 0.01)
    monkeypatch.setattr(peer_kills, "_head_answers", lambda league: True)


BEFORE = [line(8, saved=False), line(8, saved=True)]
RESTORED = [line(8, saved=None), line(9, saved=False)]


EMPTY = [{**line(number, saved=saved), "steps": 9000} for number in (10, 11) for saved in (False, True)]
"""Iterations in which nothing was played."""


@pytest.mark.parametrize(
    "after", [[], [line(9, saved=False), line(9, saved=True)], [line(9, saved=False), line(9, saved=True), *EMPTY]]
)
def test_the_iteration_under_way_is_no_sign_of_life(after: list[Row]) -> None:
    league = League(BEFORE, after, RESTORED, hangs=True)
    row = peer_kills._strike(league, "ray head")
    assert not row["by_itself"] and row["person"][1] == "start Ray again"
    assert league.did == ["kill ray head", "stop", "head", "restore"]
    assert (row["steps_before"], row["steps_saved"], row["steps_after"]) == (8000, 8000, 9000)


def test_the_end_of_a_save_is_none_either() -> None:
    league = League([line(8, saved=True), line(9, saved=False)], [line(9, saved=True)], RESTORED)
    row = peer_kills._strike(league, "driver")
    assert not row["by_itself"] and row["person"][1:] == ["start a driver that restores the last checkpoint"]
    assert (row["steps_before"], row["steps_saved"], row["steps_after"]) == (9000, 8000, 9000)
    assert row["waited_for_itself_s"] < 5.0, "nobody waits for a driver that is gone"


def test_an_iteration_after_the_one_under_way_is(monkeypatch: pytest.MonkeyPatch) -> None:
    went_on: list[Any] = [line(9, saved=False), line(9, saved=True), line(10, saved=False)]
    row = peer_kills._strike(League(BEFORE, went_on, [], hangs=True), "env runner")
    assert row["by_itself"] and row["person"] == [] and row["steps_after"] == 10000
