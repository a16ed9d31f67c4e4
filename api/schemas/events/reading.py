"""Reads an event by its kind, also of a kind that this release does not know."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from api.schemas.events.base import KINDS, EventPayload
from api.schemas.events.wording import sentence_case, spelled


class UnknownEvent(EventPayload):
    """An event of a kind that is not known here: from a newer release or a plug-in."""

    _kind: str = ""

    @property
    def text(self) -> str:
        """The kind in words, after the name of what it is about, where the payload has one."""
        told = spelled(self._kind).replace(".", " ")
        carried = self.model_extra or {}
        subject = next((carried[key] for key in ("name", "player") if _is_name(carried.get(key))), "")
        return f"{subject}: {told}" if subject else sentence_case(told)


def read_event(kind: str, payload: dict[str, Any]) -> EventPayload:
    """The payload as its type. One that does not fit, or of an unknown kind, is kept as it is."""
    known = KINDS.get(kind)
    if known is not None:
        try:
            return known.model_validate(payload)
        except ValidationError:
            pass  # a sentence that says less is better than a stream that breaks
    return unknown_event(kind, payload)


def read_event_json(kind: str, payload: str) -> EventPayload:
    """The same from JSON text."""
    return read_event(kind, json.loads(payload))


def unknown_event(kind: str, payload: dict[str, Any]) -> UnknownEvent:
    event = UnknownEvent.model_validate(payload)
    event._kind = kind
    return event


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value)
