"""Server-Sent Events: what happens, as it happens, resumable without a gap and without a double."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from api.auth.scopes import Viewer
from api.auth.tokens import Principal
from api.routes.paging import LARGEST, EntityId
from api.service.context import Api, Services
from api.service.feed import FeedUnavailable
from api.store.queries.trials import require_trial

router = APIRouter(prefix="/api/v1", tags=["events"])

IDLE_SECONDS = 10.0
LastEventId = Annotated[
    int | None,
    Header(alias="Last-Event-ID", ge=0, le=LARGEST, description="the last event you have seen; a browser sends it"),
]
After = Annotated[
    int | None,
    Query(ge=0, le=LARGEST, description="the same, for a first connection; 0: everything from the beginning"),
]
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A stream that does not end",
        "content": {
            "text/event-stream": {
                "schema": {"type": "string"},
                "example": 'id: 17\nevent: trial.status\ndata: {"id":17,"type":"trial.status","trial_id":"...",'
                '"created_at":"2030-01-01T00:00:00Z","payload":{"from":"pending","to":"running"}}\n\n',
            }
        },
    }
}


@router.get("/events", summary="Follow everything", response_class=StreamingResponse, responses=STREAM)
async def follow_all(
    services: Api, principal: Viewer, last_event_id: LastEventId = None, after: After = None
) -> StreamingResponse:
    """Every event of every trial, in the order of commits. Without a position: from now on."""
    return _stream(services, principal, _position(last_event_id, after), None)


@router.get("/trials/{trial_id}/events", summary="Follow a trial", response_class=StreamingResponse, responses=STREAM)
async def follow_trial(
    trial_id: EntityId, services: Api, principal: Viewer, last_event_id: LastEventId = None, after: After = None
) -> StreamingResponse:
    """The trial's events, and between them `progress` without an id: how far its generations under way are."""

    def check() -> None:
        with services.reads() as session:
            require_trial(session, str(trial_id))

    await run_in_threadpool(check)
    return _stream(services, principal, _position(last_event_id, after), str(trial_id))


def _position(last_event_id: int | None, after: int | None) -> int | None:
    return after if last_event_id is None else last_event_id


def _stream(services: Services, principal: Principal, after: int | None, trial_id: str | None) -> StreamingResponse:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_frames(services, principal, after, trial_id), headers=headers, media_type=MEDIA_TYPE)


MEDIA_TYPE = "text/event-stream"


async def _frames(
    services: Services, principal: Principal, after: int | None, trial_id: str | None
) -> AsyncIterator[bytes]:
    yield b"retry: 1000\n\n"
    try:
        async for frame in services.feed.follow(after, trial_id, IDLE_SECONDS):
            if frame:
                yield frame
                continue
            if await run_in_threadpool(services.tokens.by_id, principal.token_id) is None:
                return  # revoked or expired meanwhile
            yield b": still here\n\n"
    except FeedUnavailable:
        return
