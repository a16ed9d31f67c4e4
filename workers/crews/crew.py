"""A crew on Ray, seen from its driver: start it, wait for it without blocking, end it."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import reduce
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.placement_group import PlacementGroup, placement_group, placement_group_table, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from league.payoff import Returns
from league.types import CheckpointRef, Earned, ReturnTally, Tally, VersionId
from orchestrator.artifacts import ArtifactStore
from workers.algorithms.contract import parse_options
from workers.crews.errors import CrewLost, CrewUnavailable, GenerationStopped
from workers.crews.member import CrewPlan
from workers.crews.processes import Worker, total
from workers.crews.task import GenerationResult, GenerationTask, Progress
from workers.rollout.tally import Counts

Tell = Callable[[Progress], None]
Ask = Callable[[], bool]
Waits = Callable[[], None]
"""Told again and again while there is no place for the crew yet."""
Play = Callable[[int], Sequence[Any]]
"""Has every actor that samples play so many steps out."""
Actor = Any
"""A handle of Ray's, whose methods its types do not know."""

POLL_SECONDS = 0.1
RECOUNT_SECONDS = 1.0
"""How often a crew that waits for its place looks whether Ray could still hold it."""
FIRST_LOOK_SECONDS = 0.005
"""Where CPUs are free, a place is there within some milliseconds."""
GRACE_SECONDS = 0.6
"""How long after a stop the work under way may take to end by itself; then its processes are ended."""
CALL_SECONDS = 0.2
"""What one call to an actor should take: long against its 1 ms of overhead, short against a stop."""


class Crew(ABC):
    """Ray actors owned by this process: when it dies, they die."""

    def __init__(self, plan: CrewPlan, store: ArtifactStore) -> None:
        self.plan = plan
        self._store = store
        self._actors: list[Actor] = []
        self._place: PlacementGroup | None = None
        self._should_stop: Ask = lambda: False
        self._warm = False
        self._rollout_steps = parse_options(plan.algorithm).rollout_steps
        self.live: str | None = None
        """sha256 of the checkpoint that the learners hold; None while that is unknown."""

    def start(self, should_stop: Ask, waits: Waits) -> None:
        """Wait for CPUs, then start the actors and wait until they stand."""
        self._should_stop = should_stop
        self._check_room()
        self._take_place(waits)
        self._start_actors()

    @abstractmethod
    def _start_actors(self) -> None:
        """Launch the actors, whose CPUs are held for them, and wait until they stand."""

    @abstractmethod
    def _generation(self, task: GenerationTask, tell: Tell) -> GenerationResult:
        """Run the task on actors that stand."""

    def run(self, task: GenerationTask, tell: Tell, should_stop: Ask) -> GenerationResult:
        """One generation. The crew can be used again afterwards while it `stands`."""
        self._should_stop = should_stop
        self._warm = task.learner is not None and task.learner.sha256 == self.live
        self.live = None
        try:
            done = self._generation(task, tell)
        except GenerationStopped:
            raise
        except Exception:
            # Whatever went wrong in one process, the others may now wait for it for ever.
            self.close()
            raise
        self.live = done.checkpoint.sha256
        return done

    @property
    def stands(self) -> bool:
        """Whether it has actors to work with."""
        return bool(self._actors)

    def close(self) -> None:
        """End the actors at once."""
        for actor in self._actors:
            ray.kill(actor, no_restart=True)
        self._actors = []
        if self._place is not None:
            remove_placement_group(self._place)
            self._place = None

    def _take_place(self, waits: Waits) -> None:
        """Wait until Ray holds CPUs for all processes: two crews that wait with half of theirs would wait for ever."""
        self._place = placement_group([{"CPU": self.plan.threads}] * self.plan.processes)
        pause, counted = FIRST_LOOK_SECONDS, time.monotonic()
        while placement_group_table(self._place).get("state") != "CREATED":
            waits()
            if self._should_stop():
                raise GenerationStopped("stopped while it waited for CPUs")
            if time.monotonic() - counted >= RECOUNT_SECONDS:
                # Ray itself waits for ever for a place that no node can offer
                self._check_room()
                counted = time.monotonic()
            time.sleep(pause)
            pause = min(2 * pause, POLL_SECONDS)

    def _launch(self, kind: type[Worker], count: int) -> list[Actor]:
        assert self._place is not None, "a place comes before its actors"
        # A returning actor would have lost its state: the generation is run again instead.
        place = PlacementGroupSchedulingStrategy(self._place)
        remote: Any = ray.remote(num_cpus=self.plan.threads, max_restarts=0, scheduling_strategy=place)(kind)
        actors = [remote.remote(self.plan, self._store, rank) for rank in range(count)]
        self._actors += actors
        return actors

    def _check_room(self) -> None:
        """Whether Ray's nodes could hold the crew if nobody else were there: a process runs on one node."""
        nodes = [node["Resources"].get("CPU", 0.0) for node in ray.nodes() if node["Alive"]]
        needed = f"{self.plan.cpus} CPUs ({self.plan.processes} processes of {self.plan.threads} threads)"
        if self.plan.cpus > sum(nodes):
            raise CrewUnavailable(f"the crew needs {needed}, Ray has {sum(nodes):g}")
        if self.plan.processes > sum(int(cpus // self.plan.threads) for cpus in nodes):
            each = ", ".join(f"{cpus:g}" for cpus in sorted(nodes, reverse=True))
            raise CrewUnavailable(f"the crew needs {needed}, each process on one node; Ray's nodes have {each} CPUs")

    def _form_ring(self, actors: Sequence[Actor]) -> None:
        if len(actors) > 1:
            address = self._wait([actors[0].host.remote(ray.util.get_node_ip_address())])[0]
            self._wait([actor.join.remote(*address) for actor in actors])

    def _wait(self, refs: Sequence[Any]) -> list[Any]:
        """The results of these calls, waited for in short turns; raises what they raised."""
        self._wait_only(refs)
        return _results(refs)

    def _wait_only(self, refs: Sequence[Any]) -> None:
        """Wait for these calls and leave their results where they are; raises what they raised."""
        waiting = list(refs)
        while waiting:
            if self._should_stop():
                self._stop(waiting)
            ready, waiting = ray.wait(waiting, timeout=POLL_SECONDS, fetch_local=False)
            # A failed call is reported at once: the others may wait for it for ever.
            _results(ready)

    def _stop(self, waiting: Sequence[Any]) -> None:
        """End within the grace: by itself if the work under way ends in time, else by force."""
        _, late = ray.wait(list(waiting), num_returns=len(waiting), timeout=GRACE_SECONDS)
        if late:
            self.close()
        raise GenerationStopped(f"stopped on request; the crew {'was ended' if late else 'stands'}")

    def _play_out(self, tell: Tell, done: Progress, play: Play, units: int) -> None:
        """Bring the games that count to their end, so many steps a call; each call is progress, however slow."""
        played = 0
        while any(self._wait(play(units))):
            played += units
            tell(replace(done, played_out=played))

    def _updates(self, task: GenerationTask) -> int:
        """Updates that the task's steps make, rounded up."""
        return math.ceil(task.steps / (self._rollout_steps * self.plan.tables * self.plan.rollout_actors))

    def _result(
        self, task: GenerationTask, ref: CheckpointRef, steps: int, counts: Sequence[Counts], metrics: dict[str, float]
    ) -> GenerationResult:
        return GenerationResult(
            checkpoint=ref,
            steps=steps,
            tallies=_tallies(task, counts),
            returns=_returns(counts),
            metrics=metrics | _game_metrics(counts),
        )


class Clock:
    """Times the calls to actors, and says how large the next should be."""

    def __init__(self) -> None:
        self._started = self._last = time.monotonic()
        self._per_unit = 0.0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def took(self, units: int) -> None:
        """A call of so many units of work came back."""
        now = time.monotonic()
        self._per_unit, self._last = (now - self._last) / units, now

    @property
    def units(self) -> int:
        """Units of work for a call of about CALL_SECONDS; 1 while nothing is known."""
        return max(1, int(CALL_SECONDS / self._per_unit)) if self._per_unit > 0 else 1


def _tallies(task: GenerationTask, counts: Sequence[Counts]) -> tuple[Tally, ...]:
    return tuple(
        Tally(
            learner=VersionId(task.version),
            opponent=VersionId(task.others[opponent].version),
            seat=seat,
            wins=int(wins),
            draws=int(draws),
            losses=int(losses),
            opponent_seat=other,
            earned=Earned(own=float(own), other=float(others)),
        )
        for (opponent, seat, other), ((wins, draws, losses), (own, others)) in sorted(
            total(counts).items(), key=lambda item: item[0]
        )
    )


def _returns(counts: Sequence[Counts]) -> ReturnTally | None:
    """The returns of a game of one seat, over all processes; None where no game ended, or games have more seats."""
    together = reduce(Returns.merged, (count.alone for count in counts if count.alone is not None), Returns())
    return ReturnTally(**asdict(together)) if together.games else None


def _game_metrics(counts: Sequence[Counts]) -> dict[str, float]:
    """What the finished games say together."""
    games = sum(count.games for count in counts)
    seats = sum(count.seats_played for count in counts)
    metrics = {"games": float(games)}
    if games:
        metrics["game_length"] = sum(count.steps for count in counts) / games
        metrics["return_mean"] = sum(count.returns for count in counts) / max(1, seats)
    return metrics


def raised_by(error: RayTaskError) -> Exception:
    """What the process itself raised; where that cannot travel Ray puts an error of its own, which is no lost crew."""
    if isinstance(error.cause, RayError):
        return RuntimeError(str(error.cause))
    cause: Exception = error.cause
    return cause


def _results(refs: Sequence[Any]) -> list[Any]:
    """Results that have arrived, with Ray's wrapping of errors taken off."""
    try:
        return list(ray.get(list(refs)))
    except RayTaskError as error:
        raise raised_by(error) from error
    except RayError as error:
        raise CrewLost(f"the crew was lost: {error}") from error
