"""Messages of the system check."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from orchestrator.contracts.queues import ActivityStub, Queue


@dataclass(frozen=True, kw_only=True)
class PartRequest:
    """Asks one part of the system for a proof that it works."""

    check: str
    """Unique to one check."""


@dataclass(frozen=True, kw_only=True)
class PartReport:
    """One part's proof."""

    part: str
    detail: str
    milliseconds: float


@dataclass(frozen=True, kw_only=True)
class SystemReport:
    """What a system check found, part by part."""

    parts: list[PartReport]


def _part_stub(part: str, queue: Queue) -> ActivityStub[PartRequest, PartReport]:
    # the first process of a new Ray cluster starts slowly
    return ActivityStub(
        name=f"check_{part}",
        queue=queue,
        message=PartRequest,
        result=PartReport,
        start_to_close=timedelta(seconds=60),
    )


check_store = _part_stub("store", Queue.STORE)
check_train = _part_stub("train", Queue.TRAIN)
check_play = _part_stub("play", Queue.PLAY)
check_interactive = _part_stub("interactive", Queue.INTERACTIVE)

SYSTEM_CHECKS = (check_store, check_train, check_play, check_interactive)
"""Every activity queue is proven by one of these."""
