"""The event feed: one LISTEN connection per process, a ring of the newest events, and readers that pull.

Nothing is pushed. A slow reader that falls behind the ring reads pages of the table instead; writers and other readers
never wait for it.

See docs/decisions/page-and-live-views.md.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg
import structlog

from api.schemas.events import EventPayload, Progress, read_event
from api.store.tables import EVENTS_CHANNEL
from orchestrator.user_code.code_archives import plain_name

log = structlog.get_logger()

RING = 5_000
PAGE = 500
NO_END = (1 << 63) - 1
READING_BACK = 4
"""Readers that may read from the table at once; further ones wait for one of them to finish."""
LISTEN_SECONDS = 5.0
"""The longest delay after a lost notification: the table is read at least this often."""
RECONNECT_SECONDS = 1.0
BRIEF_SECONDS = 2.0
"""The least time between two brief progress events."""
BRIEF_GENERATIONS = 12
NOT_BRIEF = {"metrics", "progress"}
_OF_TRIAL = "(%(trial)s::uuid IS NULL OR trial_id = %(trial)s::uuid)"
_PAGE = f"""
SELECT id, trial_id::text, type, payload::text, created_at FROM events
WHERE id > %(after)s AND id <= %(upto)s AND {_OF_TRIAL} ORDER BY id LIMIT %(most)s
"""  # noqa: S608 put together from constants
_BEFORE_NEWEST = f"""
SELECT coalesce((SELECT id FROM events WHERE {_OF_TRIAL} ORDER BY id DESC OFFSET %(newest)s LIMIT 1), 0)
"""  # noqa: S608 put together from constants


@dataclass(frozen=True, slots=True)
class Frame:
    """One event, ready to be sent: encoded once for all readers."""

    id: int
    trial_id: str | None
    name: bytes
    """The line that names the kind. A browser gives frames with a name only to listeners of that name."""
    data: bytes

    def encoded(self, *, named: bool) -> bytes:
        return self.name + self.data if named else self.data


def frame_of(id: int, trial_id: str | None, type: str, payload: str, created_at: datetime) -> Frame:
    """The Server-Sent Event of a row."""
    event = read_event(type, json.loads(payload))
    when = created_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    head = _json({"id": id, "type": type, "trial_id": trial_id, "created_at": when, **_described(event)})
    text = f'{head[:-1]},"payload":{event.to_json_text()}}}'
    return Frame(id, trial_id, f"event: {type}\n".encode(), f"id: {id}\ndata: {text}\n\n".encode())


def progress_frame(trial_id: str, progress: Progress) -> Frame:
    """The Server-Sent Event of progress: without an id, for it is not stored."""
    told = _json({"type": progress.kind, "trial_id": trial_id, **_described(progress), **progress.to_json()})
    return Frame(0, trial_id, f"event: {progress.kind}\n".encode(), f"data: {told}\n\n".encode())


def brief_frame(trial_id: str, progress: Progress) -> Frame:
    """The same for the page: of at most a few generations, those at work first, without the heartbeats themselves."""
    at_work = sorted(progress.generations, key=lambda each: 0 if each.steps else 1 if each.waiting else 2)
    told = {
        "generations": [each.model_dump(mode="json", exclude=NOT_BRIEF) for each in at_work[:BRIEF_GENERATIONS]],
        "speed": None if progress.speed is None else progress.speed.model_dump(mode="json"),
        "under_way": len(progress.generations),
    }
    text = _json({"type": progress.kind, "trial_id": trial_id, **_described(progress), "text": "", **told})
    return Frame(0, trial_id, f"event: {progress.kind}\n".encode(), f"data: {text}\n\n".encode())


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _described(event: EventPayload) -> dict[str, Any]:
    # names of own code as their author wrote them, without the archive that they are in
    return {"text": plain_name(event.text), "level": event.level, "transient": event.transient}


class FeedUnavailable(Exception):
    """The feed has no connection to the database yet."""


class EventFeed:
    """Follows the events table for all readers of this process."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._ring: deque[Frame] = deque(maxlen=RING)
        self._floor = 0
        """Every event above this id, up to the newest, is in the ring buffer."""
        self._newest: int | None = None
        self._live: dict[str, tuple[int, Frame, Frame]] = {}
        """The newest progress of each trial: its number, whole and brief."""
        self._beats = 0
        self._news = asyncio.Event()
        self._closed = False
        self._reading_back = asyncio.Semaphore(READING_BACK)
        self.listeners: dict[str, int] = {}
        """How many readers follow each trial."""

    async def run(self) -> None:
        """Follow until cancelled. After a lost connection it reconnects and misses no event."""
        while True:
            try:
                await self._follow_table()
            except psycopg.Error as error:
                log.warning("the event feed lost its connection", error=type(error).__name__)
                await asyncio.sleep(RECONNECT_SECONDS)

    def close(self) -> None:
        """End every reader, so that the server can stop."""
        self._closed = True
        self._wake()

    def publish_progress(self, trial_id: str, progress: Progress) -> None:
        """Send the newest progress to the trial's readers; it is not stored and has no id."""
        self._beats += 1
        frames = progress_frame(trial_id, progress), brief_frame(trial_id, progress)
        self._live[trial_id] = (self._beats, *frames)
        self._wake()

    async def position_before(self, newest: int, trial_id: str | None) -> int:
        """The position just before the newest events, as many as `newest`, of one trial or of all."""
        async with self._reading_back, await self._connection() as connection:
            asked = {"trial": trial_id, "newest": newest}
            row = await (await connection.execute(_BEFORE_NEWEST, asked)).fetchone()
            assert row is not None
            position: int = row[0]
            return position

    async def follow(
        self, after: int | None, trial_id: str | None, idle: float, *, named: bool = True, brief: bool = False
    ) -> AsyncIterator[bytes]:
        """Events after an id (None: from now on), in order, each once; b"" whenever nothing was sent for `idle` s.

        The first frame is the position alone, so that a client that disconnects before the first event can resume.
        `named` frames have an `event:` line; `brief` progress comes less often and tells less.
        """
        position = await self._starting_point() if after is None else after
        yield f"id: {position}\n\n".encode()
        seen_beat = self._beats
        reader = trial_id or ""
        clock = asyncio.get_running_loop().time
        sent_at = clock()
        told_at = -BRIEF_SECONDS
        self.listeners[reader] = self.listeners.get(reader, 0) + 1
        try:
            while not self._closed:
                news = self._news
                frames, position = await self._after(position, trial_id)
                for frame in frames:
                    yield frame.encoded(named=named)
                beat, whole, short = self._live.get(reader, (0, None, None))
                live = short if brief else whole
                if live is not None and beat > seen_beat and (not brief or clock() - told_at >= BRIEF_SECONDS):
                    seen_beat, told_at = beat, clock()
                    yield live.encoded(named=named)
                elif not frames:
                    # events of other trials wake this reader too, and must not delay its keep-alive
                    if await _set_within(news, sent_at + idle - clock()):
                        continue
                    yield b""
                sent_at = clock()
        finally:
            self.listeners[reader] -= 1
            if not self.listeners[reader]:
                del self.listeners[reader]
                self._live.pop(reader, None)

    async def _starting_point(self) -> int:
        deadline = asyncio.get_running_loop().time() + LISTEN_SECONDS
        while self._newest is None:
            if asyncio.get_running_loop().time() > deadline:
                raise FeedUnavailable
            await asyncio.sleep(0.02)
        return self._newest

    async def _after(self, position: int, trial_id: str | None) -> tuple[list[Frame], int]:
        """Events after a position, and the next position: from the ring buffer if it has them, else from the table."""
        if self._newest is not None and position >= self._floor:
            newer = []
            for frame in reversed(self._ring):
                if frame.id <= position:
                    break
                if trial_id is None or frame.trial_id == trial_id:
                    newer.append(frame)
            return newer[::-1], max(position, self._newest)
        upto = await self._starting_point()
        async with self._reading_back, await self._connection() as connection:
            frames = await _page(connection, position, upto, trial_id)
        # a page that is not full has every event up to the one that was newest before the query
        return frames, frames[-1].id if len(frames) == PAGE else max(position, upto)

    async def _connection(self) -> psycopg.AsyncConnection:
        return await psycopg.AsyncConnection.connect(self._url, autocommit=True, application_name="lanista-events")

    async def _follow_table(self) -> None:
        async with await self._connection() as connection:
            await connection.execute(f"LISTEN {EVENTS_CHANNEL}")
            if self._newest is None:
                row = await (await connection.execute("SELECT coalesce(max(id), 0) FROM events")).fetchone()
                assert row is not None
                self._floor = self._newest = row[0]
            while True:
                while frames := await _page(connection, self._newest, NO_END):
                    self._add(frames)
                async for _ in connection.notifies(timeout=LISTEN_SECONDS, stop_after=1):
                    pass  # a notification only says that there are new events

    def _add(self, frames: list[Frame]) -> None:
        for frame in frames:
            if len(self._ring) == RING:
                self._floor = self._ring[0].id
            self._ring.append(frame)
            self._newest = frame.id
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


async def _page(connection: psycopg.AsyncConnection, after: int, upto: int, trial_id: str | None = None) -> list[Frame]:
    asked = {"after": after, "upto": upto, "trial": trial_id, "most": PAGE}
    cursor = await connection.execute(_PAGE, asked)
    return [frame_of(*row) for row in await cursor.fetchall()]


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True
