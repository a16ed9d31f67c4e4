"""Runs of the chaos benchmark are added to those before."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.faults.gateway_chaos import KINDS, all_grew, read_runs, replaced, summed


def test_counts_are_added_and_the_longest_wait_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    assert read_runs(file) == []
    one = {"seed": 1, "kills": 2, "kills_by_kind": {"gateway": 2}, "doubled": 0, "longest_recovery_s": 9.5}
    other = {"seed": 2, "kills": 1, "kills_by_kind": {"trainer": 1}, "doubled": 1, "longest_recovery_s": 3.0}
    file.write_text(json.dumps({"total": {}, "runs": [one, other]}))
    assert summed(read_runs(file)) == {
        "runs": 2,
        "kills": 3,
        "kills_by_kind": {"gateway": 2, "trainer": 1},
        "doubled": 1,
        "longest_recovery_s": 9.5,
    }


def test_everything_that_plays_or_learns_is_killed() -> None:
    assert {"gateway", "agent process", "batching service", "trainer", "train-worker"} <= set(KINDS)


def test_a_kill_is_over_when_the_killed_process_itself_was_replaced() -> None:
    before = frozenset({10, 11})
    assert not replaced(10, before, [11]), "the other one does not count"
    assert not replaced(10, before, [10, 11, 12]), "the killed one is still there"
    assert replaced(10, before, [11, 12])


def test_work_after_a_kill_is_that_of_every_player() -> None:
    assert not all_grew({"main": 3, "second": 2}, {"main": 5, "second": 2})
    assert all_grew({"main": 3, "second": 2}, {"main": 4, "second": 3})
