"""What is known of Ray's nodes: releases, clocks, connections that fail, and nodes that left."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from orchestrator.clock_skew import Skew
from tests.unit.cluster.test_watch import Clock, FakeView, Reached, node, watch_of
from workers.cluster.node_survey import NodeReport
from workers.cluster.reachability import Address
from workers.cluster.survey import EVERY_SECONDS, LEFT_SHOWN_SECONDS, TARGETS_AT_ONCE, ClusterSurvey


class FakeSurveyor:
    """Answers at once; `cut` names the targets that nobody reaches."""

    def __init__(self) -> None:
        self.cut: dict[str, str] = {}
        self.asked: list[tuple[str, dict[str, Address], bool]] = []

    def ask_here(self, targets: Mapping[str, Address]) -> NodeReport:
        return self.ask("own", targets, works=True)

    def ask(self, node_id: str, targets: Mapping[str, Address], *, works: bool) -> NodeReport:
        self.asked.append((node_id, dict(targets), works))
        unreached = {name: why for name, why in self.cut.items() if name in targets}
        return NodeReport(release="1.0", skew=Skew(0.5, 0.1), unreached=unreached)


class Surveyed:
    """A survey whose questions are answered before `look` returns."""

    def __init__(self, view: FakeView, *gateways: str, reached: Reached | None = None) -> None:
        self.clock, self.surveyor = Clock(), FakeSurveyor()
        self.watch = watch_of(view, reachability=reached or Reached())
        self.survey = ClusterSurvey(self.watch, self.surveyor, gateways, clock=self.clock)

    def look(self, *, later: float = 0.0) -> None:
        self.clock.now += later
        self.watch.refresh()
        self.survey.look()
        self.survey.close()
        self.survey._threads = ThreadPoolExecutor(4)


def test_each_node_is_asked_once_a_minute_what_it_reaches() -> None:
    surveyed = Surveyed(FakeView(node("own"), node("a"), node("head", 0.0)), "10.0.0.9:8820")
    surveyed.surveyor.cut = {"host-a (a)": "no answer within 2 s", "gateway 10.0.0.9:8820": "Connection refused"}
    surveyed.look()
    surveyed.look()
    asked = {name: (sorted(targets), works) for name, targets, works in surveyed.surveyor.asked}
    gateway = "gateway 10.0.0.9:8820"
    assert len(surveyed.surveyor.asked) == 3 and asked == {
        "own": ([gateway, "host-a (a)", "host-head (head)"], True),
        "a": ([gateway, "host-head (head)", "host-own (own)"], True),
        "head": (["host-a (a)", "host-own (own)"], False),
    }
    assert surveyed.survey.report("head").unreached == {"host-a (a)": "no answer within 2 s"}
    assert surveyed.survey.report("a").unreached == {gateway: "Connection refused"}
    assert surveyed.survey.report("a").release == "1.0" and surveyed.survey.report("a").skew == Skew(0.5, 0.1)
    surveyed.surveyor.cut.clear()
    surveyed.look(later=EVERY_SECONDS)
    assert len(surveyed.surveyor.asked) == 6 and surveyed.survey.report("head").unreached == {}


def test_unreachable_and_draining_nodes_are_not_asked() -> None:
    view, reached = FakeView(node("own"), node("a"), node("b")), Reached()
    view.drained, reached.lost = {"a"}, {"b"}
    surveyed = Surveyed(view, reached=reached)
    surveyed.look()
    assert [name for name, _, _ in surveyed.surveyor.asked] == ["own"]
    assert surveyed.survey.report("a") == NodeReport()


def test_a_node_that_left_is_named_for_a_while_and_not_once_its_host_is_back() -> None:
    view = FakeView(node("own"), node("a"))
    surveyed = Surveyed(view)
    surveyed.look()
    gone = view.alive.pop()
    surveyed.look(later=5)
    surveyed.look(later=5)
    assert [(each.host, seconds) for each, seconds in surveyed.survey.left()] == [("host-a", 5.0)]
    assert surveyed.survey.report("a") == NodeReport()
    view.alive.append(gone)
    surveyed.look()
    assert surveyed.survey.left() == []
    view.alive.pop()
    surveyed.look()
    surveyed.look(later=LEFT_SHOWN_SECONDS)
    assert surveyed.survey.left() == []


def test_of_many_nodes_each_tries_some_at_a_time_and_all_in_turn() -> None:
    names = [f"n{number:03}" for number in range(2 * TARGETS_AT_ONCE + 5)]
    surveyed = Surveyed(FakeView(*(node(name) for name in names)))
    surveyed.surveyor.cut = {"host-n001 (n001)": "no answer within 2 s"}
    for _ in range(3):
        surveyed.look(later=EVERY_SECONDS)
    of_one = [targets for name, targets, _ in surveyed.surveyor.asked if name == "n000"]
    assert [len(targets) for targets in of_one] == [TARGETS_AT_ONCE] * 3
    assert set().union(*of_one) == {f"host-{name} ({name})" for name in names[1:]}
    assert "host-n001 (n001)" in surveyed.survey.report("n000").unreached, "kept until it is tried again"
