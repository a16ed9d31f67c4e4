"""Crews and matches on the nodes that the watch allows, on a real Ray of one node, which is this process's own."""

from __future__ import annotations

import socket
from dataclasses import replace
from importlib.metadata import version

import pytest
import ray
from ray.util.placement_group import placement_group, remove_placement_group
from temporalio.testing import ActivityEnvironment

from orchestrator.catalog import Component
from orchestrator.contracts.play import Contender, PlayRequest
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.training.generation_task import TASK
from workers.activities.playing import PlayActivities
from workers.cluster.node_check import check_result, start_check
from workers.cluster.node_survey import NodeSurveyor
from workers.cluster.ray_view import RayView
from workers.cluster.watch import GIVE_WAY_AFTER_SECONDS, ClusterWatch
from workers.crews.all_reduce import this_process
from workers.crews.errors import CrewUnavailable
from workers.crews.generation import run_generation
from workers.crews.hosts.cpu_ledger import CpuLedger
from workers.crews.pool import CrewPool

pytestmark = pytest.mark.usefixtures("local_ray")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def watch_of(store: ArtifactStore, **options: object) -> ClusterWatch:
    watch = ClusterWatch(RayView(store), **options)  # type: ignore[arg-type]
    watch._own_node = ray.get_runtime_context().get_node_id()
    watch.refresh()
    return watch


def train(store: ArtifactStore, pool: CrewPool) -> None:
    task = replace(TASK, rollout_actors=2)
    run_generation(task, store=store, progress=lambda _: None, should_stop=lambda: False, crews=pool)


def test_a_crew_trains_on_the_own_node_and_gives_way_to_another_driver(store: ArtifactStore) -> None:
    clock = Clock()
    watch = watch_of(store, clock=clock)
    assert watch.cpus == 4 and watch.selector() == {}
    pool = CrewPool(store, CpuLedger(lambda: watch.cpus), cluster=watch)
    train(store, pool)
    (crew,) = pool._idle
    assert crew.nodes == set(watch.state.usable)

    theirs = placement_group([{"CPU": 3}])  # two CPUs are free
    watch.refresh()
    assert not watch.others_wait()
    clock.now += GIVE_WAY_AFTER_SECONDS
    watch.refresh()
    assert watch.others_wait()
    pool.give_way()
    assert not pool._idle
    ray.get(theirs.ready(), timeout=120)
    watch.refresh()
    assert not watch.others_wait()
    remove_placement_group(theirs)


def test_matches_are_placed_on_a_node_that_may_be_used(store: ArtifactStore) -> None:
    watch = watch_of(store)
    playing = PlayActivities(store.root_url, cluster=watch)
    contenders = [Contender(version=name, player=name, bot="random") for name in ("a", "b")]
    games = PlayRequest(
        trial="t", occasion="test", game=Component(id="tic_tac_toe"), contenders=contenders, pairs=1, seed=1
    )
    ActivityEnvironment().run(playing.play_games, games)
    (actor,) = playing._idle
    assert [playing._node_of[actor]] == list(watch.state.usable)
    ray.kill(actor)


def test_without_a_node_that_may_be_used_a_crew_is_refused_with_the_reason(store: ArtifactStore) -> None:
    watch = watch_of(store, labels={"zone": "elsewhere"})
    pool = CrewPool(store, CpuLedger(lambda: 4.0), cluster=watch)
    with pytest.raises(CrewUnavailable, match=r"Ray has 0; not used: .* lacks the label zone=elsewhere"):
        train(store, pool)


def test_a_node_reads_the_artifacts_of_its_check_and_knows_its_own_address(store: ArtifactStore) -> None:
    node = ray.get_runtime_context().get_node_id()
    ref = store.put(b"weights", kind="checkpoint")
    assert check_result(start_check(node, store, ref)) is None
    store.discard(ref)
    assert "cannot read the artifacts" in str(check_result(start_check(node, store, ref)))
    assert ray.get(ray.remote(this_process).remote()).address == ray.nodes()[0]["NodeManagerAddress"]


def test_a_node_tells_its_release_its_clock_and_what_it_cannot_reach(store: ArtifactStore) -> None:
    node, surveyor = ray.get_runtime_context().get_node_id(), NodeSurveyor(store)
    with socket.create_server(("127.0.0.1", 0)) as open_port, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nothing listens
        targets = {"open": open_port.getsockname(), "closed": closed.getsockname()}
        report = surveyor.ask(node, targets, works=True)
        assert surveyor.ask_here(targets).unreached == report.unreached == {"closed": "Connection refused"}
    assert report.release == version("lanista") and report.faults == ()
    assert report.skew is not None and not report.skew.too_large, "one machine has one clock"


def test_a_node_that_is_gone_has_a_fault_in_words(store: ArtifactStore) -> None:
    report = NodeSurveyor(store).ask("0" * 56, {}, works=True)
    assert report.skew is None and report.faults[0].startswith("cannot run a task: ")
