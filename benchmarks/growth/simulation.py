"""A discrete-event simulation of a queueing network: pure, seeded, and small enough to check against closed forms.

Customers make the same visits again and again (a closed network), or arrive at random, make them once and leave (an
open one). A station has a number of servers and one queue, first come, first served; one without a limit only delays.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Visit:
    """One stay at a station."""

    station: str
    seconds: float
    """The time of service, or its mean where it is `exponential`."""
    exponential: bool = False


@dataclass(frozen=True, kw_only=True)
class StationResult:
    """What a station did in the measured time."""

    utilisation: float
    """The share of its servers that worked; 0 for a station that only delays."""
    mean_wait: float
    """Seconds in the queue, before service."""
    visits: int


@dataclass(frozen=True, kw_only=True)
class Result:
    """What the network did in the measured time."""

    rate: float
    """Rounds of visits that ended, a second."""
    round_seconds: float
    """The mean duration of a round."""
    rounds: int
    stations: dict[str, StationResult]


@dataclass
class _Station:
    servers: float
    busy: int = 0
    queue: deque[tuple[float, int]] = field(default_factory=deque)
    """Times of arrival and customers."""
    worked: float = 0.0
    waited: float = 0.0
    visits: int = 0


def simulate_closed(
    stations: Mapping[str, float],
    visits: Sequence[Visit],
    *,
    customers: int,
    seconds: float,
    warm_up: float = 0.0,
    seed: int = 0,
) -> Result:
    """`customers` that go round for ever; they start at random moments of the first `warm_up` seconds."""
    rng = random.Random(seed)
    starts = [rng.uniform(0.0, warm_up) for _ in range(customers)]
    return _Network(stations, visits, rng, warm_up, warm_up + seconds).run(starts, again=True)


def simulate_open(
    stations: Mapping[str, float],
    visits: Sequence[Visit],
    *,
    arrivals_per_second: float,
    seconds: float,
    warm_up: float = 0.0,
    seed: int = 0,
) -> Result:
    """Customers that arrive in a Poisson process, make the visits once and leave."""
    rng = random.Random(seed)
    starts, now = [], 0.0
    while (now := now + rng.expovariate(arrivals_per_second)) < warm_up + seconds:
        starts.append(now)
    return _Network(stations, visits, rng, warm_up, warm_up + seconds).run(starts, again=False)


class _Network:
    """One run. At an event a customer arrives at its next station, or leaves its present one."""

    def __init__(
        self, stations: Mapping[str, float], visits: Sequence[Visit], rng: random.Random, begin: float, end: float
    ) -> None:
        self._stations = {name: _Station(servers) for name, servers in stations.items()}
        self._visits, self._rng, self._begin, self._end = visits, rng, begin, end
        self._events: list[tuple[float, int, int, bool]] = []
        self._number = 0
        self._rounds, self._round_seconds = 0, 0.0

    def run(self, starts: Sequence[float], *, again: bool) -> Result:
        at, begun = [0] * len(starts), list(starts)
        for customer, start in enumerate(starts):
            self._push(start, customer, arrives=True)
        while self._events and self._events[0][0] <= self._end:
            now, _, customer, arrives = heapq.heappop(self._events)
            visit = self._visits[at[customer]]
            if arrives:
                self._arrive(now, customer, visit)
                continue
            self._leave(now, visit, at)
            at[customer] += 1
            if at[customer] == len(self._visits):
                at[customer] = 0
                self._end_round(now, begun[customer])
                begun[customer] = now
                if not again:
                    continue
            self._push(now, customer, arrives=True)
        return self._result()

    def _arrive(self, now: float, customer: int, visit: Visit) -> None:
        station = self._stations[visit.station]
        if station.busy < station.servers:
            self._serve(now, customer, visit, station)
        else:
            station.queue.append((now, customer))

    def _serve(self, now: float, customer: int, visit: Visit, station: _Station) -> None:
        seconds = self._rng.expovariate(1.0 / visit.seconds) if visit.exponential else visit.seconds
        station.busy += 1
        station.worked += max(0.0, min(now + seconds, self._end) - max(now, self._begin))
        station.visits += now >= self._begin
        self._push(now + seconds, customer, arrives=False)

    def _leave(self, now: float, visit: Visit, at: Sequence[int]) -> None:
        station = self._stations[visit.station]
        station.busy -= 1
        if station.queue:
            since, customer = station.queue.popleft()
            if now >= self._begin:
                station.waited += now - since
            self._serve(now, customer, self._visits[at[customer]], station)

    def _end_round(self, now: float, begun: float) -> None:
        if now >= self._begin:
            self._rounds += 1
            self._round_seconds += now - begun

    def _push(self, time: float, customer: int, *, arrives: bool) -> None:
        self._number += 1
        heapq.heappush(self._events, (time, self._number, customer, arrives))

    def _result(self) -> Result:
        seconds = self._end - self._begin
        return Result(
            rate=self._rounds / seconds,
            round_seconds=self._round_seconds / self._rounds if self._rounds else math.inf,
            rounds=self._rounds,
            stations={
                name: StationResult(
                    utilisation=0.0 if math.isinf(each.servers) else each.worked / (each.servers * seconds),
                    mean_wait=each.waited / each.visits if each.visits else 0.0,
                    visits=each.visits,
                )
                for name, each in self._stations.items()
            },
        )
