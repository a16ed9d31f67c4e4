"""The traces of generations among recorded spans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from orchestrator.tracing.ids import generation_ref
from orchestrator.tracing.reading import RecordedSpan

ROOT = "generation"


@dataclass(frozen=True, kw_only=True)
class GenerationTrace:
    """All spans of one generation."""

    trace: str
    trial: str
    player: str
    generation: int
    trial_name: str
    player_name: str
    spans: list[RecordedSpan]
    """By their beginnings."""

    @property
    def started(self) -> float:
        return min(span.started for span in self.spans)

    @property
    def seconds(self) -> float:
        return max(span.ended for span in self.spans) - self.started

    @property
    def ended(self) -> bool:
        """Whether its player's workflow has gone on to the next one, or given it up."""
        return any(span.name == ROOT for span in self.spans)

    @property
    def failures(self) -> int:
        return sum(span.problem is not None for span in self.spans)

    @property
    def links(self) -> list[str]:
        """The traces of the requests behind it."""
        return sorted({link for span in self.spans for link in span.links})

    def walk(self) -> Iterator[tuple[int, RecordedSpan]]:
        """Every span with its depth, each below the one that it is part of."""
        known = {span.id for span in self.spans}
        below = defaultdict(list)
        for span in self.spans:
            below[span.parent if span.parent in known else ""].append(span)
        waiting = [(0, span) for span in reversed(below[""])]
        while waiting:
            depth, span = waiting.pop()
            yield depth, span
            waiting += [(depth + 1, each) for each in reversed(below[span.id])]


def generation_traces(spans: Iterable[RecordedSpan]) -> list[GenerationTrace]:
    """The generations among these spans, in the order of their beginnings."""
    by_trace: dict[str, dict[str, RecordedSpan]] = defaultdict(dict)
    for span in spans:
        by_trace[span.trace][span.id] = span  # the last one: a workflow's task that is repeated writes its span again
    people = _names(span for each in by_trace.values() for span in each.values())
    found = [trace for each in by_trace.values() if (trace := _generation(list(each.values()), people)) is not None]
    return sorted(found, key=lambda trace: trace.started)


def _names(spans: Iterable[RecordedSpan]) -> dict[str, dict[str, str]]:
    """The names of trials and players by their ids; not every span has both."""
    names: dict[str, dict[str, str]] = {"trial": {}, "player": {}}
    for span in spans:
        for kind, found in names.items():
            if name := span.own(f"{kind}_name"):
                found[span.own(kind)] = name
    return names


def _generation(spans: list[RecordedSpan], people: dict[str, dict[str, str]]) -> GenerationTrace | None:
    spans.sort(key=lambda span: span.started)
    key = {
        name: value
        for span in spans
        for name in ("trial", "player", "generation")
        if (value := span.own(name)) is not None
    }
    if len(key) < 3:
        return None
    ref = generation_ref(**key)
    if spans[0].trace != ref.trace_hex:  # another activity that names a generation
        return None
    return GenerationTrace(
        trace=ref.trace_hex,
        trial_name=people["trial"].get(key["trial"], ""),
        player_name=people["player"].get(key["player"], ""),
        spans=spans,
        **key,
    )
