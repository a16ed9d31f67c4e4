"""One speed for a league, however its players share the crews."""

from __future__ import annotations

import pytest

from league.training_speed import TrainedSpan, seconds_left, steps_per_second


def turns(players: int, seconds: float, steps: int, until: float) -> list[TrainedSpan]:
    """Players that take turns on one crew: each generation begins when the one before has ended."""
    count = int(until / seconds)
    return [TrainedSpan(steps=steps, began=turn * seconds, ended=(turn + 1) * seconds) for turn in range(count)]


@pytest.mark.parametrize("players", [1, 3, 8])
def test_players_that_take_turns_are_not_added_up(players: int) -> None:
    spans = turns(players, seconds=10, steps=143_000, until=600)
    assert steps_per_second(spans, since=300, now=600) == pytest.approx(14_300)


def test_players_at_work_at_once_are_added_up() -> None:
    spans = [span for _ in range(3) for span in turns(1, seconds=10, steps=1_000, until=600)]
    assert steps_per_second(spans, since=300, now=600) == pytest.approx(300)


def test_of_a_generation_across_the_edge_the_part_inside_counts() -> None:
    spans = [TrainedSpan(steps=1_000, began=250, ended=350), TrainedSpan(steps=999, began=0, ended=300)]
    assert steps_per_second(spans, since=300, now=400) == pytest.approx(5)


def test_a_generation_under_way_counts_from_its_first_step() -> None:
    """The speed of a league whose generations are longer than the window does not fall to nothing between commits."""
    assert steps_per_second([TrainedSpan(steps=6_000, began=0, ended=600)], since=300, now=600) == pytest.approx(10)


def test_a_player_that_waits_lowers_nothing_and_one_that_stopped_does() -> None:
    spans = turns(1, seconds=10, steps=1_000, until=600)
    assert steps_per_second(spans, since=600, now=900) == 0
    assert steps_per_second(spans, since=450, now=750) == pytest.approx(50)
    assert steps_per_second(spans, since=600, now=600) == 0


def test_the_time_left_follows_from_the_speed() -> None:
    assert seconds_left(budget=1_000, steps=400, speed=10) == 60
    assert seconds_left(budget=1_000, steps=1_200, speed=10) == 0
    assert seconds_left(budget=1_000, steps=400, speed=0) is None
    assert seconds_left(budget=None, steps=400, speed=10) is None
