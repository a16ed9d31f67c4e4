"""Parses an event by its kind, including kinds that this release does not know."""

from __future__ import annotations

import json
from typing import Any

from pydantic import PrivateAttr

from api.schemas.events.base import KINDS, EventPayload
from api.schemas.events.wording import sentence_case, spelled


class UnknownEvent(EventPayload):
    """An event of an unknown kind, from a newer release or a plug-in. Its payload is unchanged."""

    _kind: str = PrivateAttr(default="")
    _payload: Any = PrivateAttr(default=None)

    @property
    def kind(self) -> str:
        return self._kind

    @property
    def text(self) -> str:
        """The kind in words, after the name of its subject where the payload has one."""
        happening = spelled(self._kind).replace(".", " ")
        carried = self._payload if isinstance(self._payload, dict) else {}
        subject = next((carried[key] for key in ("name", "player") if _is_name(carried.get(key))), "")
        return f"{subject}: {happening}" if subject else sentence_case(happening)

    def to_json(self) -> Any:
        return self._payload if self.key is None else {**self._payload, "key": self.key}

    def to_json_text(self) -> str:
        return json.dumps(self.to_json(), ensure_ascii=False, separators=(",", ":"))


def read_event(kind: str, payload: Any) -> EventPayload:
    """The payload as its kind's type; an UnknownEvent if the kind is unknown or the payload does not fit it."""
    known = KINDS.get(kind)
    if known is not None:
        try:
            event = known.model_validate(payload)
            event.text  # noqa: B018 a plug-in's sentence may raise
            return event
        except Exception:  # noqa: S110 the reader gets the unknown event instead
            pass  # a sentence that says less is better than a stream that breaks
    unknown = UnknownEvent()
    unknown._kind, unknown._payload = kind, payload
    return unknown


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value)
