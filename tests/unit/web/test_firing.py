"""A schedule that is fired: Temporal is asked again where the first call fails, under one identity."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from temporalio.api.workflowservice.v1 import PatchScheduleRequest

from api.web.temporal.schedules import TemporalSchedules


async def test_the_call_is_repeated_by_the_sdk_and_known_by_its_moment() -> None:
    asked: list[tuple[PatchScheduleRequest, dict[str, Any]]] = []

    async def patch_schedule(request: PatchScheduleRequest, **options: Any) -> None:
        asked.append((request, options))

    service = SimpleNamespace(patch_schedule=patch_schedule)
    client: Any = SimpleNamespace(namespace="default", identity="test", workflow_service=service)
    book, moment = TemporalSchedules(None, client), datetime(2026, 1, 1, tzinfo=UTC)  # type: ignore[arg-type]
    for at in (moment, moment, None, None):
        await book.fire("nightly", at)
    assert all(options["retry"] is True for _, options in asked)
    first, again, other, another = (request.request_id for request, _ in asked)
    assert first == again and len({first, other, another}) == 3
