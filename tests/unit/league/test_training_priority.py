"""Who trains first, where many players share few crews."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count

import pytest

from league.training_priority import TrainingStanding, Urgency, patience, queues_after, records_after, urgency
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


SECOND = timedelta(seconds=1)


def standing(steps: int, silent: timedelta = SECOND) -> TrainingStanding:
    return TrainingStanding(steps=steps, silent=silent)


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        (0, {B: 0, C: 0}, None),
        (100, {B: 0, C: 100}, B),
        (100, {B: 100, C: 100}, None),
        (200, {B: 150, C: 120}, C),
        (2_000, {B: 1_910}, None),
        (2_000, {B: 1_900}, B),
        (5_000, {B: 100}, None),
    ],
    ids=["start", "a generation ahead", "level", "of two the last", "within a tenth", "beyond it", "too far behind"],
)
def test_a_lead_is_one_generation_or_a_tenth(own: int, others: dict[PlayerId, int], expected: PlayerId | None) -> None:
    standings = {A: standing(own)} | {player: standing(steps) for player, steps in others.items()}
    assert records_after(A, 100, SECOND, standings) == expected


def test_a_silent_player_is_not_waited_for() -> None:
    limit = patience(60 * SECOND, learners=2)
    assert limit == 180 * SECOND
    assert records_after(A, 100, 60 * SECOND, {A: standing(100), B: standing(0, limit)}) == B
    assert records_after(A, 100, 60 * SECOND, {A: standing(100), B: standing(0, limit + SECOND)}) is None


def test_a_player_that_will_wait_for_another_queues_after_it() -> None:
    idle = TrainingStanding(steps=0, silent=SECOND, in_flight=False)
    assert queues_after(A, 100, SECOND, {A: standing(100), B: idle, C: standing(0)}) == B
    assert queues_after(A, 100, SECOND, {A: standing(100), B: standing(0), C: standing(0)}) is None
    assert queues_after(A, 100, SECOND, {A: standing(0), B: idle}) is None, "it is not ahead"


@dataclass
class Learner:
    """Trains `steps` in `seconds`, then needs `between` seconds until it can plan again."""

    seconds: float
    steps: int = 400
    between: float = 0.5
    recorded: int = 0
    generations: int = 0
    in_flight: bool = False


POLL = 0.5
"""Between two attempts of a plan or a record that has to wait."""


class Crews:
    """A simulation of players that share crews: a queue by urgency, plans and records that wait."""

    def __init__(self, learners: Mapping[PlayerId, Learner], crews: int) -> None:
        self.learners, self.free = {name: replace(each) for name, each in learners.items()}, crews
        self.busy = 0.0
        self.leads: list[tuple[int, float]] = []
        """Of each record: the lead over the last player in steps, and what is allowed."""
        self._order = count()
        self._queue: list[tuple[int, int, PlayerId]] = []
        self._events: list[tuple[float, int, str, PlayerId]] = []
        for name in learners:
            self._at(0.0, "plan", name)

    def run(self, until: float) -> None:
        while self._events and self._events[0][0] <= until:
            now, _, what, name = heapq.heappop(self._events)
            if what == "plan":
                self._plan(now, name)
            else:
                self.free += what == "trained"
                self._record(now, name)
            while self.free and self._queue:
                _, _, first = heapq.heappop(self._queue)
                self.free -= 1
                self.busy += self.learners[first].seconds
                self._at(now + self.learners[first].seconds, "trained", first)

    def _at(self, time: float, what: str, name: PlayerId) -> None:
        heapq.heappush(self._events, (time, next(self._order), what, name))

    def _standings(self) -> dict[PlayerId, TrainingStanding]:
        return {
            name: TrainingStanding(steps=each.recorded, silent=SECOND, in_flight=each.in_flight)
            for name, each in self.learners.items()
        }

    def _plan(self, now: float, name: PlayerId) -> None:
        learner = self.learners[name]
        if queues_after(name, learner.steps, SECOND, self._standings()):
            self._at(now + POLL, "plan", name)
            return
        learner.in_flight = True
        turn = urgency(name, {name: each.generations for name, each in self.learners.items()})
        heapq.heappush(self._queue, (turn, next(self._order), name))

    def _record(self, now: float, name: PlayerId) -> None:
        learner = self.learners[name]
        if records_after(name, learner.steps, SECOND, self._standings()):
            self._at(now + POLL, "record", name)
            return
        learner.recorded += learner.steps
        learner.generations += 1
        learner.in_flight = False
        last = min(each.recorded for each in self.learners.values())
        self.leads.append((learner.recorded - last, max(learner.steps, 0.1 * last)))
        self._at(now + learner.between, "plan", name)


DEMO = {A: Learner(7.0, steps=370, between=1.0), B: Learner(5.0), C: Learner(5.5)}


@pytest.mark.parametrize("crews", [1, 2])
@pytest.mark.parametrize(
    "learners",
    [
        DEMO,
        {A: Learner(5.0), B: Learner(5.0), C: Learner(5.0)},
        {A: Learner(9.0, between=4.0), B: Learner(3.0), C: Learner(3.0)},
        {PlayerId(str(number)): Learner(1.0 + number % 4) for number in range(12)},
    ],
    ids=["as in the demo", "equal", "one is three times as slow", "twelve"],
)
def test_players_that_share_crews_stay_level_at_every_record(learners: dict[PlayerId, Learner], crews: int) -> None:
    simulation = Crews(learners, crews)
    simulation.run(until=600.0)
    assert len(simulation.leads) > 90
    for lead, allowed in simulation.leads:
        assert lead <= allowed + 1e-9


@pytest.mark.parametrize("crews", [1, 2])
def test_crews_stay_busy_while_players_wait_for_each_other(crews: int) -> None:
    simulation = Crews(DEMO, crews)
    simulation.run(until=600.0)
    assert simulation.busy / (600.0 * crews) > 0.95
