"""The identity of spans: W3C's `traceparent`, and the ids of a generation, which are made from its name."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")


@dataclass(frozen=True)
class SpanRef:
    """A span by its trace and its id."""

    trace: int
    span: int

    @property
    def trace_hex(self) -> str:
        return f"{self.trace:032x}"

    @property
    def span_hex(self) -> str:
        return f"{self.span:016x}"

    @property
    def traceparent(self) -> str:
        """As W3C's header says it."""
        return f"00-{self.trace_hex}-{self.span_hex}-01"

    @classmethod
    def parse(cls, traceparent: str) -> SpanRef | None:
        """None where the text is no valid traceparent: whoever sent it need not have meant well."""
        found = _TRACEPARENT.fullmatch(traceparent) if len(traceparent) <= 256 else None
        if found is None or traceparent.startswith("ff"):
            return None
        trace, span = int(found[1], 16), int(found[2], 16)
        return cls(trace, span) if trace and span else None


def generation_ref(trial: str, player: str, generation: int, attempt: int = 1) -> SpanRef:
    """The topmost span of one plan of a generation; all plans of the generation share a trace."""
    name = f"lanista generation\n{trial}\n{player}\n{generation}"
    trace = hashlib.sha256(name.encode()).digest()[:16]
    span = hashlib.sha256(f"{name}\n{attempt}".encode()).digest()[16:24]
    return SpanRef(int.from_bytes(trace), int.from_bytes(span))


def generation_of(message: object) -> SpanRef | None:
    """The generation that a message is about; None where it is about something else."""
    trial, player = getattr(message, "trial", None), getattr(message, "player", None)
    generation, attempt = getattr(message, "generation", None), getattr(message, "attempt", 1)
    if not (isinstance(trial, str) and isinstance(player, str) and isinstance(generation, int)):
        return None
    return generation_ref(trial, player, generation, attempt)
