"""Which of Ray's nodes may run users' work: what is seen, checked, distrusted and lost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from league.types import CheckpointRef
from orchestrator.storage.artifacts import ArtifactStore, MissingArtifact
from workers.cluster.ray_view import Node, RayView
from workers.cluster.reachability import Address, Reachability
from workers.cluster.watch import GIVE_WAY_AFTER_SECONDS, RECHECK_SECONDS, ClusterWatch


def node(name: str, cpus: float = 2.0, **labels: str) -> Node:
    return Node(id=name, host=f"host-{name}", address=(name, 1), resources={"CPU": cpus}, labels=labels)


class FakeView(RayView):
    """A cluster as a test says; checks end when their node is looked at the next time."""

    def __init__(self, *nodes: Node) -> None:
        self.alive, self.drained, self.groups = list(nodes), set[str](), set[str]()
        self.problems: dict[str, str | None] = {}
        self.checked: list[tuple[str, CheckpointRef | None]] = []

    def own_node(self) -> str:
        return "own"

    def nodes(self) -> list[Node]:
        return self.alive

    def draining(self) -> set[str]:
        return self.drained

    def waiting_groups(self) -> set[str]:
        return self.groups

    def start_check(self, node_id: str, also: CheckpointRef | None) -> Any:
        self.checked.append((node_id, also))
        return node_id

    def check_ended(self, call: Any) -> bool:
        return True

    def check_result(self, call: Any) -> str | None:
        return self.problems.get(call)


@dataclass
class Reached(Reachability):
    """Without sockets."""

    lost: set[str] = field(default_factory=set)

    def unreachable(self, nodes: Any) -> frozenset[str]:
        return frozenset(self.lost)


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def watch_of(view: FakeView, **options: Any) -> ClusterWatch:
    watch = ClusterWatch(view, **{"reachability": Reached(), **options})
    watch._own_node = view.own_node()
    watch.refresh()
    return watch


def test_a_node_is_used_once_it_passed_its_check_and_this_ones_own_at_once() -> None:
    view = FakeView(node("own"), node("other", 3.0), node("head", 0.0))
    watch = watch_of(view)
    assert list(watch.state.usable) == ["own"] and watch.cpus == 2.0
    assert watch.state.excluded == {"other": "is checked before it gets work"}, "nodes without CPUs need no reason"
    assert watch.selector() == {"ray.io/node-id": "!in(other)"}
    watch.refresh()
    assert watch.cpus == 5.0 and watch.selector() == {}
    view.alive.pop(1)
    watch.refresh()
    assert watch.cpus == 2.0, "a node that left"


def test_a_node_that_fails_its_check_is_named_and_checked_again() -> None:
    view, clock = FakeView(node("bad")), Clock()
    view.problems["bad"] = "cannot read the artifacts"
    watch = watch_of(view, clock=clock)
    watch.refresh()
    watch.refresh()
    assert watch.state.excluded == {"bad": "cannot read the artifacts"} and len(view.checked) == 1
    view.problems.clear()
    clock.now += RECHECK_SECONDS + 1
    watch.refresh()
    watch.refresh()
    assert watch.may_use(["bad"])


def test_drained_unreachable_and_unlabelled_nodes_get_no_work() -> None:
    view, reached = FakeView(*(node(name, zone="a") for name in "abc"), node("d", zone="b")), Reached()
    watch = watch_of(view, labels={"zone": "a"}, reachability=reached)
    watch.refresh()
    assert sorted(watch.state.usable) == ["a", "b", "c"]
    assert watch.selector() == {"zone": "a", "ray.io/node-id": "!in(d)"}
    view.drained, reached.lost = {"a"}, {"b"}
    watch.refresh()
    assert watch.state.excluded == {"a": "is draining", "b": "cannot be reached", "d": "lacks the label zone=a"}
    assert watch.lost(["a", "c"]) is None, "a drained node finishes its generation"
    assert watch.lost(["b"]) == "node host-b (b) cannot be reached"


def test_a_node_is_blamed_only_for_what_this_process_can_read(tmp_path: Path) -> None:
    store, view = ArtifactStore(str(tmp_path)), FakeView(node("own"), node("other"))
    watch = watch_of(view)
    watch.refresh()
    ref = store.put(b"weights", kind="checkpoint")
    unknown = replace(ref, sha256="0" * 64, uri=ref.uri.replace(ref.sha256, "0" * 64))
    assert watch.blame(["other"], MissingArtifact(unknown.uri, unknown.sha256), store) is None
    assert watch.blame(["own"], MissingArtifact(ref.uri, ref.sha256), store) is None
    told = watch.blame(["other"], MissingArtifact(ref.uri, ref.sha256), store)
    assert told is not None and "on host-other (other), while the train worker can read it" in told
    assert list(watch.state.usable) == ["own"], "at once"
    watch.refresh()
    assert view.checked[-1][0] == "other" and view.checked[-1][1].sha256 == ref.sha256  # type: ignore[union-attr]
    watch.refresh()
    assert watch.may_use(["other"])


def test_it_gives_way_to_crews_of_other_drivers_that_have_waited() -> None:
    view, clock = FakeView(node("own")), Clock()
    watch = watch_of(view, clock=clock)
    watch.own_group("mine")
    view.groups = {"mine", "theirs"}
    watch.refresh()
    assert not watch.others_wait()
    clock.now += GIVE_WAY_AFTER_SECONDS
    watch.refresh()
    assert watch.others_wait()
    view.groups = {"mine"}
    watch.refresh()
    assert not watch.others_wait()


@pytest.mark.parametrize("answers", [True, False])
def test_a_node_is_lost_when_it_has_not_answered_for_some_seconds(answers: bool) -> None:
    clock, probed = Clock(), list[Address]()

    def probe(address: Address) -> bool:
        probed.append(address)
        return answers

    reachability = Reachability(probe, lost_seconds=8.0, clock=clock)
    for _ in range(10):
        lost = reachability.unreachable({"a": ("10.0.0.1", 1)})
        reachability._under_way["a"].result(timeout=60)
        clock.now += 1
    reachability.close()
    assert lost == (frozenset() if answers else frozenset({"a"}))
    assert probed == [("10.0.0.1", 1)] * 10
