"""Server-Sent Events: what happens, as it happens, resumable without missing or repeating an event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

import psycopg
from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from api.schemas.base import LARGEST
from api.schemas.events.openapi import EVENT_SCHEMA
from api.store.trials.reads import require_trial
from api.web.auth.scopes import Viewer
from api.web.auth.tokens import Principal
from api.web.live.feed import EventFeed, FeedUnavailable
from api.web.problems import ProblemError
from api.web.responses.paging import EntityId
from api.web.responses.serialization import SerializingRoute
from api.web.services import Api, Services

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1", tags=["events"])

IDLE_SECONDS = 10.0
TRUSTED_SECONDS = 10.0
"""A stream ends within this many seconds after its session or token did, however much there is to send."""
LastEventId = Annotated[
    int | None,
    Header(alias="Last-Event-ID", ge=0, le=LARGEST, description="the last event you have seen; a browser sends it"),
]
After = Annotated[
    int | None,
    Query(ge=0, le=LARGEST, description="like Last-Event-ID, for a first connection; 0: everything from the beginning"),
]
Newest = Annotated[
    int | None,
    Query(ge=0, le=1_000, description="start with this many of the newest events, then continue; not with `after`"),
]
Named = Annotated[
    bool,
    Query(description="whether frames have an `event:` line; without it, a browser's `onmessage` gets every kind"),
]
Brief = Annotated[
    bool,
    Query(
        description="true: `progress` at most every 2 s, of at most 12 generations (those at work first, `under_way` "
        "says of how many), without what heartbeats say besides steps"
    ),
]
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A stream that does not end; the data of each frame is an Event as JSON",
        "content": {
            "text/event-stream": {
                "schema": {"type": "string"},
                "itemSchema": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string", "description": "the event's id; `progress` has none"},
                        "event": {"type": "string", "description": "the kind of event"},
                        "data": {
                            "type": "string",
                            "contentMediaType": "application/json",
                            "contentSchema": {"$ref": EVENT_SCHEMA},
                        },
                        "retry": {"type": "integer"},
                    },
                },
                "example": "retry: 1000\n\nid: 16\n\n"
                'event: trial.status\nid: 17\ndata: {"id":17,"type":"trial.status","trial_id":"...",'
                '"created_at":"2030-01-01T00:00:00Z","text":"The trial went from pending to running","level":"plain",'
                '"transient":false,"payload":{"from":"pending","to":"running"}}\n\n',
            }
        },
    }
}


@dataclass(frozen=True)
class StreamStart:
    """Where a stream starts. A reconnecting browser repeats its first URL with Last-Event-ID, which has precedence."""

    last_event_id: LastEventId = None
    after: After = None
    newest: Newest = None

    async def position(self, feed: EventFeed, trial_id: str | None) -> int | None:
        """The event after which to begin; None for now."""
        if self.last_event_id is not None:
            return self.last_event_id
        if self.newest is None:
            return self.after
        if self.after is not None:
            raise ProblemError(422, "query.newest: give `newest` or `after`, not both")
        return await feed.position_before(self.newest, trial_id)


From = Annotated[StreamStart, Depends()]


@router.get("/events", summary="Follow all events", response_class=StreamingResponse, responses=STREAM)
async def follow_all(services: Api, principal: Viewer, beginning: From, named: Named = True) -> StreamingResponse:
    """Every event of every trial, in the order of commits. Without a position: from now on."""
    return await _stream(services, principal, beginning, None, named)


@router.get(
    "/trials/{trial_id}/events",
    summary="Follow the events of a trial",
    response_class=StreamingResponse,
    responses=STREAM,
)
async def follow_trial(
    trial_id: EntityId,
    services: Api,
    principal: Viewer,
    beginning: From,
    named: Named = True,
    brief: Brief = False,
) -> StreamingResponse:
    """The trial's events, and between them `progress` without an id: the progress of its running generations."""

    def check() -> None:
        with services.reads() as session:
            require_trial(session, str(trial_id))

    await run_in_threadpool(check)
    return await _stream(services, principal, beginning, str(trial_id), named, brief)


async def _stream(
    services: Services,
    principal: Principal,
    beginning: StreamStart,
    trial_id: str | None,
    named: bool,
    brief: bool = False,
) -> StreamingResponse:
    services.streams.require_free(principal.token_id)
    try:
        after = await beginning.position(services.feed, trial_id)
    except psycopg.OperationalError:
        raise ProblemError(503, "the database does not answer; try again", headers={"Retry-After": "2"}) from None
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    follow = services.feed.follow(after, trial_id, IDLE_SECONDS, named=named, brief=brief)
    frames = _frames(services, principal, follow)
    return StreamingResponse(frames, headers=headers, media_type=MEDIA_TYPE)


MEDIA_TYPE = "text/event-stream"


async def _frames(services: Services, principal: Principal, following: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    clock = asyncio.get_running_loop().time
    looked_at = clock()
    with services.streams.opened(principal.token_id), suppress(FeedUnavailable, psycopg.OperationalError):
        yield b"retry: 1000\n\n"
        # when the feed or the database is gone, the stream ends: clients reconnect with the last id they have
        async for frame in following:
            if not frame or clock() - looked_at >= TRUSTED_SECONDS:
                if not await run_in_threadpool(services.tokens.is_valid, principal):
                    return  # the session is over, or the token was revoked or has expired
                looked_at = clock()
            yield frame or b": still here\n\n"
