"""Garbage collection leaves the parts of replay buffers alone while a generation may still name them."""

from datetime import UTC, datetime, timedelta

import pytest

from api.store.checkpoints.garbage import BUFFER_KIND, is_kept_buffer
from orchestrator.storage.artifacts import StoredFile
from workers.buffers.storing import KIND


@pytest.mark.parametrize(
    ("kind", "days", "kept"), [("buffer", 1, True), ("buffer", 31, False), ("checkpoint", 1, False)]
)
def test_parts_are_kept_for_a_month(kind: str, days: int, kept: bool) -> None:
    modified = datetime.now(UTC) - timedelta(days=days)
    file = StoredFile(path=f"root/{kind}/00/{'0' * 64}", size=1, modified=modified)
    assert is_kept_buffer(file) is kept
    assert BUFFER_KIND == KIND
