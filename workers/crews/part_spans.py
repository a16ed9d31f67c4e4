"""The spans of a crew's processes. The processes only take times; this, in the train worker, writes the spans.

So Ray's nodes need neither OpenTelemetry nor a way to a collector. See docs/decisions/tracing.md.
"""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.tracing import spans
from workers.crews.part_times import Part, ProcessParts

MOST_PROCESSES = 8
"""Of a larger crew, those that were busy longest: the others waited for them."""


def record_parts(processes: Iterable[ProcessParts]) -> None:
    """Write a span for each process, below the span under way, and in it one for each of its parts."""
    found = sorted((each for each in processes if each.parts), key=lambda each: -each.busy)
    for process in found[:MOST_PROCESSES]:
        own = spans.record(
            process.process,
            min(part.started for part in process.parts),
            max(part.ended for part in process.parts),
            {"host.name": process.host, "process.pid": process.pid, f"{spans.PREFIX}processes": len(found)},
        )
        written = {"": own}
        for part in process.parts:
            written[part.name] = spans.record(
                part.name, part.started, part.ended, _times(part), parent=written.get(part.above, own)
            )


def _times(part: Part) -> spans.Attributes:
    return spans.own({"busy_seconds": round(part.busy, 4), "times": part.calls})
