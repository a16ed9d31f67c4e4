"""Slots of the train queue follow the cluster."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from workers.cluster import slots as slots_module
from workers.cluster.labels import parse_labels
from workers.cluster.slots import ClusterSlots

NO_CONTEXT = cast(Any, None)


async def test_slots_grow_and_shrink_with_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots_module, "POLL_SECONDS", 0.01)
    cpus = [1]
    slots = ClusterSlots(lambda: cpus[0])
    await slots.reserve_slot(NO_CONTEXT)
    assert slots.try_reserve_slot(NO_CONTEXT) is None
    waiting = asyncio.create_task(slots.reserve_slot(NO_CONTEXT))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    cpus[0] = 2  # a node joined
    await asyncio.wait_for(waiting, 60)
    cpus[0] = 1  # and left: two are under way, none is handed out until both have ended
    slots.release_slot(NO_CONTEXT)
    assert slots.try_reserve_slot(NO_CONTEXT) is None
    slots.release_slot(NO_CONTEXT)
    assert slots.try_reserve_slot(NO_CONTEXT) is not None


def test_labels_are_read() -> None:
    assert parse_labels("zone=a, disk=ssd ,") == {"zone": "a", "disk": "ssd"}
    assert parse_labels("") == {}
