"""Spans as they are written and read again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from orchestrator.tracing import spans
from orchestrator.tracing.ids import SpanRef, generation_ref
from orchestrator.tracing.reading import RecordedSpan

Written = Callable[[], list[RecordedSpan]]


def test_without_tracing_nothing_happens() -> None:
    with spans.span("work") as span:
        span.set(steps=1)
        span.rename("other")
        span.fail("badly")
        assert spans.current() is None
    assert spans.record("work", 1.0, 2.0) is None
    assert not spans.tracing()


def test_spans_nest(traced: Written) -> None:
    with spans.span("outer"):
        outer = spans.current()
        with spans.span("inner", {"key": "value"}) as inner:
            inner.set(steps=3, share=0.5, warm=True)
    assert spans.current() is None
    above, below = traced()
    assert outer == SpanRef(int(above.trace, 16), int(above.id, 16))
    assert (above.name, above.parent, above.role) == ("outer", "", "tests")
    assert (below.name, below.parent, below.trace) == ("inner", above.id, above.trace)
    assert below.attributes["key"] == "value"
    assert (below.own("steps"), below.own("share"), below.own("warm")) == (3, 0.5, True)
    assert above.started <= below.started <= below.ended <= above.ended


def test_a_span_belongs_to_the_named_one(traced: Written) -> None:
    generation, request = generation_ref("t", "p", 1), generation_ref("a", "b", 1)
    with spans.span("other"), spans.span("train", parent=generation, links=[request]):
        pass
    train = next(span for span in traced() if span.name == "train")
    assert (train.trace, train.parent, train.links) == (
        generation.trace_hex,
        generation.span_hex,
        (request.trace_hex,),
    )


def test_a_root_begins_a_trace_inside_another(traced: Written) -> None:
    with spans.span("other"), spans.span("own", root=True):
        pass
    other, own = traced()
    assert own.parent == "" and own.trace != other.trace


def test_an_exception_marks_its_span_and_those_above(traced: Written) -> None:
    with pytest.raises(ValueError, match="bad"), spans.span("outer"), spans.span("inner"):
        raise ValueError("bad " + "x" * 10_000)
    outer, inner = traced()
    assert outer.problem is not None and inner.problem is not None
    assert inner.problem.startswith("ValueError: bad x") and len(inner.problem) == 500


def test_a_recorded_span_has_its_own_times_and_identity(traced: Written) -> None:
    own, request = generation_ref("t", "p", 1), generation_ref("a", "b", 1)
    assert spans.record("generation", 100.0, 102.5, own=own, links=[request], problem="lost") == own
    (span,) = traced()
    assert (span.trace, span.id, span.parent) == (own.trace_hex, own.span_hex, "")
    assert (span.started, span.seconds, span.problem, span.links) == (100.0, 2.5, "lost", (request.trace_hex,))


def test_a_recorded_span_without_identity_belongs_to_the_span_under_way(traced: Written) -> None:
    with spans.span("crew"):
        actor = spans.record("actor", 1.0, 2.0)
        spans.record("part", 1.0, 2.0, parent=actor)
    by_name = {span.name: span for span in traced()}
    assert by_name["actor"].parent == by_name["crew"].id
    assert by_name["part"].parent == by_name["actor"].id
    assert len({span.trace for span in by_name.values()}) == 1


async def test_a_thread_of_a_task_has_its_span(traced: Written) -> None:
    with spans.span("request"):
        seen = await asyncio.to_thread(spans.current)
        assert seen is not None and seen == spans.current()
