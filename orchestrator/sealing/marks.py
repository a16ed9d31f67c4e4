"""Marks by which the codec tells the payload converter which payloads it could not open."""

from __future__ import annotations

from enum import StrEnum

from temporalio.api.common.v1 import Payload

_REFUSED = "lanista-refused"
_DISPLAY = "lanista-display"


class Refusal(StrEnum):
    """Why a payload was not opened."""

    PLAIN = "it is not sealed"
    UNKNOWN_KEY = "it is sealed with a key that this process does not have"
    FORGED = "its seal is broken"
    MISUSED = "it was sealed for another use"


def mark(payload: Payload, refusal: Refusal) -> Payload:
    """A copy with the refusal; the copy is never taken for an opened payload."""
    marked = Payload(metadata=payload.metadata, data=payload.data)
    marked.metadata[_REFUSED] = refusal.encode()
    return marked


def refusal_of(payload: Payload) -> Refusal | None:
    """Why the payload was not opened; None where it was."""
    value = payload.metadata.get(_REFUSED)
    return None if value is None else Refusal(value.decode())


def unmarked(payload: Payload) -> Payload:
    """The payload as it came."""
    plain = Payload(metadata=payload.metadata, data=payload.data)
    del plain.metadata[_REFUSED]
    return plain


def as_display_text(payload: Payload) -> Payload:
    """Mark an outgoing payload as text for Temporal's Web UI, which nobody reads back: it stays unsealed."""
    payload.metadata[_DISPLAY] = b"1"
    return payload


def is_display_text(payload: Payload) -> bool:
    return _DISPLAY in payload.metadata
