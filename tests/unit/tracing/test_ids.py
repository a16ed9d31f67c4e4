"""The identity of spans."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from orchestrator.tracing.ids import SpanRef, generation_of, generation_ref


@dataclass(frozen=True)
class Message:
    trial: str
    player: str
    generation: int


@dataclass(frozen=True)
class Planned(Message):
    attempt: int


def test_a_traceparent_is_read_as_it_is_written() -> None:
    ref = SpanRef(0xABC, 0xDEF)
    assert ref.traceparent == f"00-{'0' * 29}abc-{'0' * 13}def-01"
    assert SpanRef.parse(ref.traceparent) == ref


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        f"00-{'0' * 32}-{'1' * 16}-01",
        f"00-{'1' * 32}-{'0' * 16}-01",
        f"00-{'A' * 32}-{'1' * 16}-01",
        f"ff-{'1' * 32}-{'1' * 16}-01",
        f"00-{'1' * 32}-{'1' * 16}-01\n",
        f"00-{'1' * 32}-{'1' * 16}-01-{'x' * 10_000}",
    ],
)
def test_what_is_no_traceparent_is_none(text: str) -> None:
    assert SpanRef.parse(text) is None


def test_every_message_about_a_generation_leads_to_the_same_trace() -> None:
    planned, recorded = generation_of(Planned("t", "p", 3, attempt=1)), generation_of(Message("t", "p", 3))
    assert planned == recorded == generation_ref("t", "p", 3)


def test_another_plan_of_a_generation_is_another_span_of_its_trace() -> None:
    first, second = generation_ref("t", "p", 3), generation_ref("t", "p", 3, attempt=2)
    assert first.trace == second.trace and first.span != second.span


def test_each_generation_of_each_player_has_its_own_trace() -> None:
    refs = [generation_ref(t, p, n) for t in ("t", "tp") for p in ("p", "") for n in (1, 2, 11)]
    assert len({ref.trace for ref in refs}) == len({ref.span for ref in refs}) == len(refs)


@pytest.mark.parametrize("message", [None, "text", Message("t", None, 3), Message("t", "p", None)])  # type: ignore[arg-type]
def test_other_messages_lead_to_none(message: object) -> None:
    assert generation_of(message) is None
