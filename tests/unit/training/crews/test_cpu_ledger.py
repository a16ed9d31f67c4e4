"""CPUs that come and go: reservations recount them, idle crews release theirs, a worker waits for the first node."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from league.training_priority import Urgency
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.training.generation_task import TASK
from workers.crews import pool as pools
from workers.crews.crew import Crew
from workers.crews.errors import CrewUnavailable
from workers.crews.hosts import ray_host
from workers.crews.hosts.cpu_ledger import CpuLedger
from workers.crews.plan import crew_plan
from workers.crews.pool import CrewPool

PLAN = crew_plan(TASK)


class PatientWatch:
    """Counts how often it was told to wait."""

    def __init__(self) -> None:
        self.waited = 0

    def waiting(self, reason: str) -> None:
        self.waited += 1

    def should_stop(self) -> bool:
        return False


class StandInCrew:
    """A crew without Ray; starts once there is place for it."""

    placed: Callable[[], bool] = staticmethod(lambda: True)
    made: list[StandInCrew]

    def __init__(self, plan: Any, store: ArtifactStore, host: Any) -> None:
        self.plan, self.loaded_sha256, self.has_actors = plan, None, True
        self.buffered: set[str] = set()
        self.closed_at: float | None = None
        StandInCrew.made.append(self)

    def start(self, should_stop: Callable[[], bool], on_waiting: Callable[[str], None]) -> None:
        while not StandInCrew.placed():
            on_waiting("a place")
            time.sleep(0.01)

    def close(self) -> None:
        self.has_actors, self.closed_at = False, time.monotonic()

    def hand_over(self, player: str) -> list[None]:
        self.buffered.discard(player)
        return [None]

    def take_over(self, player: str, moved: list[None]) -> None:
        self.buffered.add(player)


@pytest.fixture(autouse=True)
def no_ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    StandInCrew.made = []
    monkeypatch.setattr(pools, "FusedCrew", StandInCrew)
    monkeypatch.setattr(StandInCrew, "placed", staticmethod(lambda: True))
    yield


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path))


def use(pool: CrewPool, seconds: float = 0.0, plan: Any = PLAN) -> None:
    with pool.crew(plan, TASK, lambda: False):
        time.sleep(seconds)


def until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_claim_counts_the_cpus_anew() -> None:
    present = SimpleNamespace(cpus=1)
    slots, watch = CpuLedger(lambda: present.cpus), PatientWatch()
    with (
        pytest.raises(CrewUnavailable, match="needs 2 CPUs, Ray has 1"),
        slots.reserve(2, watch.should_stop, watch.waiting),
    ):
        pass
    present.cpus = 2
    with slots.reserve(2, watch.should_stop, watch.waiting):
        threading.Timer(0.3, lambda: setattr(present, "cpus", 3)).start()
        with slots.reserve(1, watch.should_stop, watch.waiting):
            assert watch.waited > 0, "it waited for the node that joined"


def test_a_claim_that_waits_is_refused_once_its_node_has_left() -> None:
    present = SimpleNamespace(cpus=12)
    slots, watch = CpuLedger(lambda: present.cpus), PatientWatch()
    with slots.reserve(8, watch.should_stop, watch.waiting):
        threading.Timer(0.3, lambda: setattr(present, "cpus", 4)).start()
        with (
            pytest.raises(CrewUnavailable, match="needs 8 CPUs, Ray has 4"),
            slots.reserve(8, watch.should_stop, watch.waiting),
        ):
            pass
        assert watch.waited > 0, "while there was hope"
    with slots.reserve(4, watch.should_stop, watch.waiting):
        pass


class NeverPlaced(Crew):
    """A crew whose place Ray never finds."""

    def _start_actors(self) -> None:
        raise AssertionError("it has no place")

    @property
    def _training_actors(self) -> list[Any]:
        raise AssertionError("it has no actors")

    def _generation(self, task: Any, tell: Any) -> Any:
        raise AssertionError("it has no actors")


def test_the_most_urgent_claim_is_next_and_equals_take_turns() -> None:
    slots, watch, served = CpuLedger(lambda: 1), PatientWatch(), []

    def claim(name: str, urgency: Urgency) -> threading.Thread:
        def train() -> None:
            with slots.reserve(1, watch.should_stop, watch.waiting, urgency):
                served.append(name)

        before = len(slots._queue)
        thread = threading.Thread(target=train)
        thread.start()
        while len(slots._queue) == before:
            time.sleep(0.001)
        return thread

    with slots.reserve(1, watch.should_stop, watch.waiting):
        waiting = [claim("first", Urgency.IN_STEP), claim("second", Urgency.IN_STEP), claim("urgent", Urgency.BEHIND)]
    for thread in waiting:
        thread.join()
    assert served == ["urgent", "first", "second"]


@pytest.mark.parametrize(
    ("nodes", "left", "words"),
    [
        ([2.0, 2.0], [2.0, 2.0], r"needs 3 CPUs \(1 processes of 3 CPUs\), each .* Ray's nodes have 2 CPUs; 2 CPUs"),
        ([2.0, 4.0], [2.0, 2.0], "Ray's nodes have 2 CPUs; 2 CPUs"),
        ([4.0], [2.0], "needs 3 CPUs .*, Ray has 2"),
        ([4.0], [], "Ray has 0"),
    ],
)
def test_a_crew_whose_place_can_never_be_is_refused(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch, nodes: list[float], left: list[float], words: str
) -> None:
    waited: list[float] = []

    def seen() -> list[dict[str, Any]]:
        gone = {"Alive": False, "Resources": {"CPU": 64.0}}
        present = enumerate(left if waited else nodes)
        alive = [{"NodeID": f"{number}", "Alive": True, "Resources": {"CPU": cpus}} for number, cpus in present]
        return [gone, *alive]

    def waits(reason: str) -> None:
        waited.append(time.monotonic())
        assert len(waited) < 1000, "it waits for ever"

    monkeypatch.setattr(ray_host, "ray", SimpleNamespace(nodes=seen, cluster_resources=lambda: {"CPU": sum(nodes)}))
    monkeypatch.setattr(ray_host, "placement_group", lambda bundles, **_: SimpleNamespace())
    monkeypatch.setattr(ray_host, "placement_group_table", lambda place: {"state": "PENDING"})
    monkeypatch.setattr(ray_host, "RECOUNT_SECONDS", 0.1, raising=False)
    monkeypatch.setattr(ray_host, "POLL_SECONDS", 0.01)
    crew = NeverPlaced(replace(PLAN, threads=3), store, ray_host.RayHost())
    with pytest.raises(CrewUnavailable, match=words):
        crew.start(lambda: False, waits)
    assert bool(waited) == (nodes != left), "what can never be is refused at once"


def test_an_idle_crew_is_ended_after_its_time(store: ArtifactStore) -> None:
    pool = CrewPool(store, idle_seconds=0.2)
    use(pool)
    (crew,) = StandInCrew.made
    until(lambda: not crew.has_actors)
    use(pool)
    assert len(StandInCrew.made) == 2


def test_consecutive_generations_keep_their_crew(store: ArtifactStore) -> None:
    pool = CrewPool(store, idle_seconds=60)
    for _ in range(3):
        with pool.crew(PLAN, TASK, lambda: False):
            assert not pool._timers, "in use it is not idle"
        assert list(pool._timers) == StandInCrew.made
    assert len(StandInCrew.made) == 1 and StandInCrew.made[0].has_actors
    pool.close()
    assert not StandInCrew.made[0].has_actors


def test_idle_crews_give_way_to_one_that_waits_for_its_place(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "EVICT_AFTER_SECONDS", 0.1)
    pool = CrewPool(store, max_idle=4)
    use(pool)
    (idle,) = StandInCrew.made
    # another driver holds what is left of Ray
    monkeypatch.setattr(StandInCrew, "placed", staticmethod(lambda: not idle.has_actors))
    use(pool, plan=crew_plan(TASK.__class__(**{**vars(TASK), "tables": 32})))
    assert not idle.has_actors and len(StandInCrew.made) == 2


def of_player(name: str) -> Any:
    return replace(TASK, player=name)


def test_a_player_gets_the_crew_that_holds_its_buffer(store: ArtifactStore) -> None:
    pool = CrewPool(store, max_idle=2)
    with (
        pool.crew(PLAN, of_player("a"), lambda: False) as first,
        pool.crew(PLAN, of_player("b"), lambda: False) as second,
    ):
        first.buffered.add("a")
        second.buffered.add("b")
    for player, crew in (("b", second), ("a", first), ("b", second)):
        with pool.crew(PLAN, of_player(player), lambda: False) as lent:
            assert lent is crew
    with pool.crew(PLAN, of_player("b"), lambda: False), pool.crew(PLAN, of_player("c"), lambda: False) as lent:
        assert lent is first


def test_a_player_waits_for_the_crew_that_holds_its_buffer(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, watch, got = CrewPool(store, max_idle=2), PatientWatch(), []

    def train() -> None:
        with pool.crew(PLAN, of_player("a"), watch.should_stop, watch.waiting) as crew:
            got.append(crew)

    with pool.crew(PLAN, of_player("b"), lambda: False) as busy:
        busy.buffered.update("ab")
        thread = threading.Thread(target=train)
        thread.start()
        until(lambda: watch.waited > 2)
    thread.join()
    assert got == [busy]
    monkeypatch.setattr(pools, "BUFFER_PATIENCE_SECONDS", 0.1)
    with pool.crew(PLAN, of_player("b"), lambda: False):
        train()
    assert got[1] is not busy and busy.buffered == {"b"}, (
        "after its patience it starts anew, and its old buffer is nobody's"
    )


def test_crews_share_the_memory_for_buffers(store: ArtifactStore) -> None:
    pool = CrewPool(store, CpuLedger(lambda: 4), buffer_bytes=4000)
    with pool.crew(replace(PLAN, rollout_actors=2), TASK, lambda: False) as crew:
        assert crew.plan.buffer_bytes == 1000, "two crews of two processes"
