"""Reads the files of spans again; needs nothing of OpenTelemetry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_VALUES = ("stringValue", "intValue", "doubleValue", "boolValue")
_ERROR = 2
"""The status code of a span that failed."""


@dataclass(frozen=True, kw_only=True)
class RecordedSpan:
    """A span that has ended."""

    trace: str
    id: str
    parent: str
    """Empty for the topmost of a trace."""
    name: str
    role: str
    """The process that wrote it: api, store-worker, train-worker."""
    started: float
    """Seconds since 1970."""
    ended: float
    attributes: dict[str, Any]
    links: tuple[str, ...]
    """The traces that it links to."""
    problem: str | None
    """Why it failed; None where it did not."""

    @property
    def seconds(self) -> float:
        return self.ended - self.started

    def own(self, name: str) -> Any:
        """An attribute of Lanista's own; None where it has none of this name."""
        return self.attributes.get(f"lanista.{name}")


def read_spans(folder: Path) -> Iterator[RecordedSpan]:
    """Every span in the files of a folder and the folders in it."""
    for path in sorted(folder.rglob("*.jsonl")):
        with path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    message = json.loads(line)
                except ValueError:  # the last line of a process that was killed, or that is just being written
                    continue
                if isinstance(message, dict):
                    yield from _read(message)


def spans_in(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every span of an export, as OTLP's JSON has it."""
    for resource in message.get("resourceSpans", ()):
        for scope in resource.get("scopeSpans", ()):
            yield from scope.get("spans", ())


def _read(message: dict[str, Any]) -> Iterator[RecordedSpan]:
    for resource in message.get("resourceSpans", ()):
        service = _attributes(resource.get("resource", {})).get("service.name", "")
        for span in spans_in({"resourceSpans": [resource]}):
            status = span.get("status", {})
            yield RecordedSpan(
                trace=span["traceId"],
                id=span["spanId"],
                parent=span.get("parentSpanId", ""),
                name=span["name"],
                role=str(service).removeprefix("lanista-"),
                started=int(span["startTimeUnixNano"]) / 1e9,
                ended=int(span["endTimeUnixNano"]) / 1e9,
                attributes=_attributes(span),
                links=tuple(link["traceId"] for link in span.get("links", ())),
                problem=status.get("message", "") if status.get("code") == _ERROR else None,
            )


def _attributes(holder: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for pair in holder.get("attributes", ()):
        for kind in _VALUES:
            if kind in pair["value"]:
                value = pair["value"][kind]
                found[pair["key"]] = int(value) if kind == "intValue" else value
    return found
