"""A running league, backed up, goes on in another installation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from lanista.stack.control import reach
from tests.e2e.leagues import QUICK, SNAPSHOTS, finished, players, start, wait_until
from tests.e2e.stack import LocalStack

OF_COMMITS = {"commits": "number", "generations": "commit", "tallies": "commit", "model_versions": "commit"}
"""Tables of what a league has recorded, with the column of the commit."""


def generations(stack: LocalStack, trial: str) -> dict[str, int]:
    return {name: int(each["generation"]) for name, each in players(stack, trial).items() if name in ("main", "second")}


def ask(stack: LocalStack, query: str | sql.Composed, *parameters: Any) -> list[tuple[Any, ...]]:
    url = reach(stack.home)["LANISTA_DATABASE_URL"].replace("+psycopg", "")
    with psycopg.connect(url) as connection:
        return connection.execute(query, parameters).fetchall()


def recorded_until(stack: LocalStack, trial: str, commit: int) -> dict[str, list[str]]:
    """Whole rows of the league up to this commit."""
    found = {}
    for table, column in OF_COMMITS.items():
        query = sql.SQL("SELECT to_jsonb(one)::text FROM {} AS one WHERE trial_id = %s AND {} <= %s")
        rows = ask(stack, query.format(sql.Identifier(table), sql.Identifier(column)), trial, commit)
        found[table] = sorted(row[0] for row in rows)
    return found


def test_a_league_goes_on_where_it_was_restored(stack: LocalStack, tmp_path: Path) -> None:
    roster = [{"name": "main", "role": "main"}, {"name": "second", "role": "main"}]
    rules = {"preset": "pfsp", "players": roster, "snapshot": SNAPSHOTS, "champion_gate": None}
    trial = start(stack, {**QUICK, "league": rules})
    wait_until(lambda: min(generations(stack, trial).values()) >= 2)
    ((recorded,),) = ask(stack, "SELECT last_commit FROM trials WHERE id = %s", trial)
    made = stack.lanista("backup", str(tmp_path / "backup"))
    assert made.returncode == 0, made.stdout + made.stderr
    stack.call("POST", f"/trials/{trial}/stop", {"mode": "now"})
    last = json.loads((tmp_path / "backup" / "backup.json").read_text())["commits"][trial]
    assert last >= recorded > 0

    (tmp_path / "elsewhere").mkdir()
    elsewhere = LocalStack.at(tmp_path / "elsewhere")
    try:
        assert elsewhere.up().returncode == 0
        ((began,),) = ask(elsewhere, "SELECT now()")
        restored = elsewhere.lanista("restore", str(tmp_path / "backup"))
        assert restored.returncode == 0, restored.stdout + restored.stderr
        # rows keep the time at which they were made: the league itself may have gone on by now
        query = "SELECT max(number) FROM commits WHERE trial_id = %s AND created_at < %s"
        assert ask(elsewhere, query, trial, began) == [(last,)], "the commit that the backup names"
        before = generations(elsewhere, trial)
        wait_until(lambda: all(generations(elsewhere, trial)[name] >= n + 2 for name, n in before.items()))
        assert recorded_until(elsewhere, trial, last) == recorded_until(stack, trial, last), "not a row has changed"
        query = "SELECT min(number) FROM commits WHERE trial_id = %s AND created_at >= %s"
        assert ask(elsewhere, query, trial, began) == [(last + 1,)], "it goes on at the next commit"
        refused = elsewhere.lanista("restore", str(tmp_path / "backup"))
        assert refused.returncode == 1 and "is not empty" in refused.stdout
        elsewhere.call("POST", f"/trials/{trial}/stop", {"mode": "now"})
        wait_until(lambda: finished(elsewhere, trial))
        audit = elsewhere.lanista("audit")
        assert audit.returncode == 0, audit.stdout + audit.stderr
    finally:
        elsewhere.down()
    wait_until(lambda: finished(stack, trial))
