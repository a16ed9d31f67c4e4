"""Which build served what is read from histories, and put into the phases of the row."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from temporalio.api.history.v1 import HistoryEvent

from benchmarks.cluster.builds import (
    Phase,
    Served,
    check_builds,
    count_by_phase,
    ended_activities,
    longest_gaps,
    phase_of,
)

NOON = datetime(2026, 11, 19, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


PHASES = [Phase(name="old build", began=at(0)), Phase(name="promoted", began=at(10))]


def event(number: int, seconds: float) -> HistoryEvent:
    found = HistoryEvent(event_id=number)
    found.event_time.FromDatetime(at(seconds))
    return found


def history() -> list[HistoryEvent]:
    """A generation on train-old, a record in the store, and a generation on train-new that has not ended."""
    events = [event(number, number) for number in range(1, 9)]
    for number, (queue, name) in {1: ("train", "train_generation"), 4: ("store", "record")}.items():
        order = events[number - 1].activity_task_scheduled_event_attributes
        order.task_queue.name, order.activity_type.name = queue, name
        begun = events[number].activity_task_started_event_attributes
        begun.scheduled_event_id, begun.identity = number, "7@train-old lanista-1.0"
        events[number + 1].activity_task_completed_event_attributes.scheduled_event_id = number
    order = events[6].activity_task_scheduled_event_attributes
    order.task_queue.name, order.activity_type.name = "train", "train_generation"
    events[7].activity_task_started_event_attributes.scheduled_event_id = 7
    return events


def test_activities_of_train_workers_that_ended_are_read_with_their_host() -> None:
    assert ended_activities(history()) == [
        Served(activity="train_generation", host="train-old", started=at(2), ended=at(3))
    ]


def test_activities_are_counted_by_the_phase_in_which_they_began() -> None:
    done = [
        Served(activity="train_generation", host=host, started=at(began), ended=at(20))
        for host, began in (("train-old", 1), ("train-old", 9.9), ("train-old", 10), ("train-new", 12), ("other", 13))
    ]
    assert count_by_phase(done, {"train-old": "old", "train-new": "new"}, PHASES) == {
        "old build": {"old": {"train_generation": 2}},
        "promoted": {build: {"train_generation": 1} for build in ("new", "old", "other")},
    }
    assert phase_of(at(-1), PHASES) == "old build"


def test_a_build_that_may_not_serve_and_a_league_that_stands_still_fail_the_row() -> None:
    trained = {"train_generation": 2}
    check_builds(
        {"before": {"old": trained}, "promoted": {"new": trained, "old": {"play_games": 1}}}, [{"old"}, {"old", "new"}]
    )
    with pytest.raises(RuntimeError, match="before: new served, besides old"):
        check_builds({"before": {"old": trained, "new": {"play_games": 1}}}, [{"old"}])
    with pytest.raises(RuntimeError, match="before: no generation was trained"):
        check_builds({"before": {"old": {"play_games": 1}}}, [{"old"}])


def test_a_gap_belongs_to_the_phase_of_the_later_commit() -> None:
    commits = {"main1": [at(1), at(3), at(12)], "main2": [at(2), at(6), at(7), at(11)]}
    assert longest_gaps(commits, PHASES) == {"old build": 4.0, "promoted": 9.0}
