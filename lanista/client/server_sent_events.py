"""Reading a stream of Server-Sent Events, and knowing where to take it up again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from pydantic import ValidationError

from api.schemas.events import Event
from lanista.client.calls.call import TrialRef, path_to, trial_path
from lanista.client.errors import UnexpectedAnswer
from lanista.client.transport import CONNECT_SECONDS, Retries, unreachable

SILENCE_SECONDS = 35.0
"""The server says something every ten seconds; one that is silent for so long is gone."""
PAUSE_SECONDS = 1.0
"""Before connecting again to a server that ended the stream."""


@dataclass
class EventDecoder:
    """Bytes in, events out. Lines end with a newline alone: JSON may hold other characters that look like one."""

    last_id: int | None = None
    _rest: bytes = b""
    _data: list[str] = field(default_factory=list)
    _id: int | None = None
    """Of the event being read: it counts once the event is whole."""

    def feed(self, chunk: bytes) -> Iterator[Event]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            event = self._line(line.rstrip(b"\r").decode())
            if event is not None:
                yield event

    def reset(self) -> None:
        """Forget a part of an event that a lost connection left."""
        self._rest = b""
        self._data.clear()
        self._id = None

    def _line(self, line: str) -> Event | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id" and value.isdigit():
            self._id = int(value)
        return None

    def _dispatch(self) -> Event | None:
        text, self._data = "\n".join(self._data), []
        if self._id is not None:
            self.last_id, self._id = self._id, None
        if not text:
            return None
        try:
            return Event.model_validate(json.loads(text))
        except (ValueError, ValidationError):
            raise UnexpectedAnswer(f"an event cannot be read: {text[:200]}") from None


class Following:
    """Where a follower of events is, across connections."""

    def __init__(self, trial: TrialRef | None, after: int | None, newest: int | None, retries: Retries) -> None:
        self._newest = newest
        self.decoder = EventDecoder(last_id=after)
        self._path = path_to("events") if trial is None else trial_path(trial, "events")
        self._retries = retries
        self._failures = 0
        self._connected = False

    def arguments(self, timeout: float) -> dict[str, Any]:
        """The arguments of httpx's `stream`."""
        self.decoder.reset()
        headers = {"Accept": "text/event-stream"}
        query = {}
        if self.decoder.last_id is not None:
            headers["Last-Event-ID"] = str(self.decoder.last_id)
        elif self._newest is not None:
            query["newest"] = self._newest
        patience = httpx.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS), read=SILENCE_SECONDS)
        return {"method": "GET", "url": self._path, "params": query, "headers": headers, "timeout": patience}

    def connected(self) -> None:
        """The attempts count anew: a long watch survives many restarts."""
        self._failures = 0
        self._connected = True

    def wait(self, base_url: object, outcome: httpx.Response | httpx.TransportError | None) -> float | None:
        """Seconds until the next connection; None where a refusal is final. Raises Unreachable in the end."""
        if self._connected:  # the stream ended or broke, as when the API restarts
            self._connected = False
            return PAUSE_SECONDS
        assert outcome is not None, "without a connection there is a refusal or an error"
        self._failures += 1
        wait = self._retries.wait_after(self._failures, outcome)
        if wait is None and isinstance(outcome, httpx.TransportError):
            raise unreachable(base_url, outcome)
        return wait
