"""The hosts of an installation, from what Temporal and Ray tell."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from api.schemas.installation.hosts import HostShown
from api.web.live.cluster_status import GONE_SECONDS, RaySeen, WorkerSeen
from api.web.live.hosts import describe_hosts, describe_unreached
from orchestrator.clock_skew import Skew
from orchestrator.contracts.interactive import RayNode, RayResources, Unreached
from orchestrator.contracts.queues import Queue
from orchestrator.temporal import identity
from orchestrator.temporal.identity import own_identity, parse_identity

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def poll(host: str, queue: Queue, *, release: str = "1.0", ago: float = 1.0) -> WorkerSeen:
    return WorkerSeen(identity=f"12@{host} lanista-{release}", queue=queue, last_seen=NOW - timedelta(seconds=ago))


def ray_node(host: str, **options: Any) -> RayNode:
    alive = "left_seconds" not in options
    given = {"cpus": 4.0, "memory_bytes": 1, "object_store_bytes": 1, "release": "1.0", **options}
    return RayNode(address=f"10.{host}", alive=alive, host=host, **given)


def seen(*nodes: RayNode, clock: Skew | None = None, unreached: list[Unreached] | None = None) -> RaySeen:
    amounts = dict.fromkeys(
        ("memory_bytes", "memory_available_bytes", "object_store_bytes", "object_store_available_bytes"), 1
    )
    cpus = dict.fromkeys(("cpus", "cpus_available", "gpus", "gpus_available"), 1.0)
    resources = RayResources(version="2", nodes=list(nodes), unreached=unreached or [], **amounts, **cpus)
    return RaySeen(resources=resources, train_clock=clock or Skew(0.0, 0.0))


def hosts(*workers: WorkerSeen, ray: RaySeen | None = None, postgres: Skew | None = None) -> dict[str, HostShown]:
    found = describe_hosts(now=NOW, api_host="front", release="1.0", workers=workers, ray=ray, postgres=postgres)
    return {host.host: host for host in found}


def test_an_identity_tells_host_and_release() -> None:
    assert parse_identity(own_identity()).host and parse_identity(own_identity()).release
    assert (parse_identity("4711@host-a").host, parse_identity("4711@host-a").release) == ("host-a", "")
    assert parse_identity("some tool").host == ""


def test_people_see_an_identity_without_the_birth_of_its_process() -> None:
    own = parse_identity(own_identity())
    assert own.place and own.began and own.shown == own_identity().rpartition(" ")[0]
    assert not own.is_dead()
    assert parse_identity("some tool").shown == "some tool"


def test_a_process_that_only_waits_to_be_reaped_is_dead() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]) as process:
        called = parse_identity(f"{process.pid}@x lanista-1.0 {identity._place()}/{identity._began(process.pid)}")
        assert not called.is_dead()
        process.kill()
        while identity._began(process.pid):
            time.sleep(0.01)
        assert called.is_dead() and process.returncode is None, "nobody has waited for it yet"


def test_parts_are_gathered_by_host() -> None:
    found = hosts(
        poll("front", Queue.STORE),
        poll("gpu", Queue.TRAIN),
        poll("gpu", Queue.PLAY),
        ray=seen(ray_node("gpu"), ray_node("head", head=True, cpus=0.0)),
    )
    assert {name: host.roles for name, host in found.items()} == {
        "front": ["api", "store worker"],
        "gpu": ["ray node", "train worker"],
        "head": ["ray head"],
    }
    assert all(host.versions == ["1.0"] and host.problems == [] for host in found.values())


def test_another_release_is_a_problem_in_words() -> None:
    found = hosts(poll("old", Queue.STORE, release="0.9"), poll("old", Queue.STORE))
    assert found["old"].versions == ["0.9", "1.0"]
    assert found["old"].problems == ["has Lanista 0.9, and the API 1.0"]


def test_clocks_are_compared_with_postgres_by_way_of_the_train_worker() -> None:
    node = ray_node("gpu", ahead_seconds=2.0, within_seconds=0.1)
    ray = seen(node, ray_node("mute"), clock=Skew(5.0, 0.2))
    found = hosts(ray=ray, postgres=Skew(1.0, 0.05))
    assert (found["front"].clock_ahead_seconds, found["front"].problems) == (-1.0, [])
    assert (found["gpu"].clock_ahead_seconds, found["gpu"].clock_within_seconds) == (6.0, 0.35)
    assert found["gpu"].problems == ["its clock is 6.0 s ahead of Postgres'"]
    assert found["mute"].clock_ahead_seconds is None and found["mute"].problems == []
    unsure = seen(ray_node("gpu", ahead_seconds=6.0, within_seconds=2.0))
    assert hosts(ray=unsure)["gpu"].problems == [], "the asking took long enough to explain it"


def test_a_node_that_left_and_a_worker_that_was_not_heard_of_are_gone() -> None:
    found = hosts(
        poll("away", Queue.STORE, ago=GONE_SECONDS + 60),
        poll("gpu", Queue.TRAIN, ago=GONE_SECONDS + 60),
        ray=seen(ray_node("dead", left_seconds=30.0, problem="ignored"), ray_node("gpu")),
    )
    assert found["dead"].left_at == NOW - timedelta(seconds=30) and found["dead"].problems == []
    assert found["away"].left_at == NOW - timedelta(seconds=GONE_SECONDS + 60)
    assert found["gpu"].left_at is None and "its train worker has not polled since" in found["gpu"].problems[0]
    restarted = hosts(poll("away", Queue.STORE, ago=200), poll("away", Queue.STORE))
    assert restarted["away"].left_at is None and restarted["away"].problems == []


def test_problems_of_nodes_and_connections_are_passed_on() -> None:
    cut = Unreached(source="gpu", target="other (10.0.0.2)", problem="no answer within 2 s")
    ray = seen(ray_node("gpu", problem="is draining", faults=["cannot read the artifacts: x"]), unreached=[cut])
    assert hosts(ray=ray)["gpu"].problems == ["is draining", "cannot read the artifacts: x"]
    (shown,) = describe_unreached(ray)
    assert (shown.source, shown.target, shown.problem) == ("gpu", "other (10.0.0.2)", "no answer within 2 s")
    assert describe_unreached(None) == []
