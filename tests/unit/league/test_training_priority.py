"""Who trains first, where many players share few crews."""

from __future__ import annotations

import pytest

from league.training_priority import Urgency, urgency
from league.types import PlayerId

A, B, C = PlayerId("a"), PlayerId("b"), PlayerId("c")


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ({}, Urgency.IN_STEP),
        ({A: 4}, Urgency.IN_STEP),
        ({A: 4, B: 4, C: 4}, Urgency.IN_STEP),
        ({A: 5, B: 4, C: 0}, Urgency.IN_STEP),
        ({A: 4, B: 5, C: 0}, Urgency.BEHIND),
        ({A: 4, B: 4, C: 6}, Urgency.BEHIND),
        ({A: 4, B: 7, C: 4}, Urgency.FAR_BEHIND),
        ({A: 0, B: 10}, Urgency.FAR_BEHIND),
        ({B: 10}, Urgency.IN_STEP),
    ],
)
def test_urgency_is_the_distance_to_whoever_is_furthest(recorded: dict[PlayerId, int], expected: Urgency) -> None:
    assert urgency(A, recorded) is expected


def test_the_most_urgent_comes_first() -> None:
    assert sorted(Urgency) == [Urgency.FAR_BEHIND, Urgency.BEHIND, Urgency.IN_STEP]
    assert min(Urgency) >= 1, "what Temporal takes as a priority"
