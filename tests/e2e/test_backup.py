"""A running league, backed up, goes on in another installation."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.leagues import QUICK, SNAPSHOTS, finished, players, start, wait_until
from tests.e2e.stack import LocalStack


def generations(stack: LocalStack, trial: str) -> dict[str, int]:
    return {name: int(each["generation"]) for name, each in players(stack, trial).items() if name in ("main", "second")}


def test_a_league_goes_on_where_it_was_restored(stack: LocalStack, tmp_path: Path) -> None:
    roster = [{"name": "main", "role": "main"}, {"name": "second", "role": "main"}]
    rules = {"preset": "pfsp", "players": roster, "snapshot": SNAPSHOTS, "champion_gate": None}
    trial = start(stack, {**QUICK, "league": rules})
    wait_until(lambda: min(generations(stack, trial).values()) >= 2)
    made = stack.lanista("backup", str(tmp_path / "backup"))
    assert made.returncode == 0, made.stdout + made.stderr
    stack.call("POST", f"/trials/{trial}/stop", {"mode": "now"})

    (tmp_path / "elsewhere").mkdir()
    elsewhere = LocalStack.at(tmp_path / "elsewhere")
    try:
        assert elsewhere.up().returncode == 0
        restored = elsewhere.lanista("restore", str(tmp_path / "backup"))
        assert restored.returncode == 0, restored.stdout + restored.stderr
        before = generations(elsewhere, trial)
        assert min(before.values()) >= 2
        wait_until(lambda: all(generations(elsewhere, trial)[name] >= n + 2 for name, n in before.items()))
        refused = elsewhere.lanista("restore", str(tmp_path / "backup"))
        assert refused.returncode == 1 and "is not empty" in refused.stdout
        elsewhere.call("POST", f"/trials/{trial}/stop", {"mode": "now"})
        wait_until(lambda: finished(elsewhere, trial))
        audit = elsewhere.lanista("audit")
        assert audit.returncode == 0, audit.stdout + audit.stderr
    finally:
        elsewhere.down()
    wait_until(lambda: finished(stack, trial))
