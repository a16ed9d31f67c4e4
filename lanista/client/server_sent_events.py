"""Follows a stream of Server-Sent Events across connections. `httpx-sse` parses it; this module resumes it.

The loops that connect again are `Client.events` in `blocking` and `AsyncClient.events` in `asynchronous`.

See docs/decisions/client-and-command-line.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
from httpx_sse import ServerSentEvent
from pydantic import ValidationError

from lanista.client.calls.call import TrialRef, path_to, trial_path
from lanista.client.errors import UnexpectedAnswer
from lanista.client.transport import CONNECT_SECONDS

if TYPE_CHECKING:
    from api.schemas.events import Event

SILENCE_SECONDS = 35.0
"""The server sends something every ten seconds; a connection that is silent for this long is dead."""
PAUSE_SECONDS = 1.0
"""Seconds to wait before reconnecting to a server that ended the stream."""


class StreamPosition:
    """The position of a reader of events, across connections."""

    def __init__(self, trial: TrialRef | None, after: int | None, newest: int | None) -> None:
        self._path = path_to("events") if trial is None else trial_path(trial, "events")
        self._newest = newest
        self.last_id = after
        """Id of the last event that arrived completely; sent as Last-Event-ID with the next connection."""

    def arguments(self, timeout: float) -> dict[str, Any]:
        """The arguments of httpx's `build_request`."""
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
        query = {}
        if self.last_id is not None:
            headers["Last-Event-ID"] = str(self.last_id)
        elif self._newest is not None:
            query["newest"] = self._newest
        limits = httpx.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS), read=SILENCE_SECONDS)
        return {"method": "GET", "url": self._path, "params": query, "headers": headers, "timeout": limits}

    def read(self, sent: ServerSentEvent) -> Event | None:
        """The event; None for a message that has only an id: it moves the position."""
        if sent.id.isdigit():
            self.last_id = int(sent.id)
        if not sent.data:
            return None
        from api.schemas.events import Event

        try:
            return Event.model_validate_json(sent.data)
        except ValidationError:
            raise UnexpectedAnswer(f"an event cannot be read: {sent.data[:200]}") from None
