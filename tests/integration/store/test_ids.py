"""Ids are UUIDs of version 7 that sort by the time they were made."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from api.store.core import ids


def test_ids_are_version_7_and_carry_the_time() -> None:
    before = datetime.now(UTC).timestamp()
    made = uuid.UUID(ids.new_id())
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert (made.int >> 80) / 1000 == pytest.approx(before, abs=60)


def test_a_burst_sorts_as_it_was_made() -> None:
    burst = [ids.new_id() for _ in range(10_000)]
    assert burst == sorted(set(burst))


def test_a_clock_set_back_does_not_turn_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    first = ids.new_id()
    monkeypatch.setattr(ids.time, "time_ns", lambda: 0)
    assert ids.new_id() > first


def test_threads_never_share_an_id() -> None:
    with ThreadPoolExecutor(8) as pool:
        batches = list(pool.map(lambda _: [ids.new_id() for _ in range(500)], range(8)))
    assert len({made for batch in batches for made in batch}) == 4000
    assert all(batch == sorted(batch) for batch in batches)
