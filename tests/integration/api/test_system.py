"""The installation at a glance: workers, queues and Ray, and what is said while they are away."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import httpx
import pytest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from api.schemas.enums import Scope
from api.web.live import cluster_status
from api.web.live.cluster_status import ClusterStatus, Observation, TaskQueues
from tests.integration.api.server import Served, running_api


def test_workers_queues_and_ray_are_shown(viewer: httpx.Client) -> None:
    system = viewer.get("/api/v1/system").json()
    assert system["unknown"] == {}
    queues = {queue["name"]: queue for queue in system["queues"]}
    assert list(queues) == ["league", "store", "train", "play", "interactive"]
    assert queues["store"]["pollers"] >= 1 and queues["play"]["pollers"] == 0, "nobody serves play here"
    served = {worker["queue"] for worker in system["workers"]}
    assert served == {"league", "store", "interactive"}
    assert all("@" in worker["identity"] and worker["last_seen"].endswith("Z") for worker in system["workers"])
    assert (system["ray"]["cpus"], system["ray"]["cpus_available"]) == (4.0, 1.0)
    assert system["ray"]["nodes"][0]["address"] == "10.0.0.1"
    working, away = system["gateways"]
    assert (working["connections"], working["sessions"], working["ticks_per_s"]) == (3, 2, 1520.5)
    assert working["games"][0]["name"] == "chess" and working["games"][0]["games"] == 12
    assert (away["address"], away["problem"], away["games"]) == ("10.0.0.2:8813", "Connection refused", [])


def test_hosts_are_shown_with_their_parts_clocks_and_what_they_cannot_reach(viewer: httpx.Client) -> None:
    system = viewer.get("/api/v1/system").json()
    hosts = {host["host"]: host for host in system["hosts"]}
    own = hosts[socket.gethostname()]
    # the stand-ins of the workers serve from this process
    assert own["roles"] == ["api", "store worker", "train worker"] and own["versions"] == [system["version"]]
    assert own["problems"] == [] and abs(own["clock_ahead_seconds"]) < 5 and own["left_at"] is None
    late = hosts["late"]
    assert late["roles"] == ["ray node"] and late["addresses"] == ["10.0.0.2"]
    assert abs(late["clock_ahead_seconds"] + 60) < 5 and late["clock_within_seconds"] > 0
    (problem,) = late["problems"]
    assert problem.startswith("its clock is ") and problem.endswith("behind Postgres'")
    assert system["unreached"] == [
        {"source": "late", "target": "gateway 10.0.0.9:8820", "problem": "Connection refused"}
    ]


def test_without_temporal_they_are_null_and_the_reason_is_said(api: Served, api_database: str, tmp_path: Path) -> None:
    with running_api(api_database, "127.0.0.1:1", tmp_path) as alone, alone.client(Scope.VIEWER) as client:
        system = client.get("/api/v1/system").json()
        assert (system["workers"], system["queues"], system["ray"], system["gateways"]) == (None, None, None, None)
        assert [host["roles"] for host in system["hosts"]] == [["api"]] and system["unreached"] == []
        assert sorted(system["unknown"]) == ["gateways", "queues", "ray", "workers"]
        assert system["readiness"]["parts"]["temporal"]["ok"] is False


async def test_without_a_train_worker_ray_is_not_asked(temporal_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    client = await Client.connect(temporal_address, data_converter=pydantic_data_converter)
    lonely = ClusterStatus(client)

    async def nobody() -> Observation[TaskQueues]:
        return Observation(TaskQueues(workers=[], queues=[]))

    monkeypatch.setattr(lonely, "task_queues", nobody)
    ray = await lonely.ray()
    assert ray.value is None and "no train worker" in ray.reason


async def test_a_slow_answer_keeps_nobody_waiting_and_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_status, "WAIT_SECONDS", 0.01)
    answers, asked = asyncio.Event(), []
    cluster = ClusterStatus(None)  # type: ignore[arg-type]

    async def describe() -> Observation[TaskQueues]:
        asked.append(1)
        await answers.wait()
        return Observation(TaskQueues(workers=[], queues=[]))

    monkeypatch.setattr(cluster, "_describe_all", describe)
    early = await asyncio.gather(*(cluster.task_queues() for _ in range(5)))
    assert [found.value for found in early] == [None] * 5 and early[0].reason
    answers.set()
    monkeypatch.setattr(cluster_status, "WAIT_SECONDS", 30.0)
    assert (await cluster.task_queues()).value is not None and asked == [1]
    assert (await cluster.task_queues()).value is not None and asked == [1], "cached for a while"


def test_logs_are_for_admins_and_the_history_for_all(api: Served, viewer: httpx.Client) -> None:
    for path in ("/api/v1/system/logs", "/api/v1/system/logs/api"):
        assert viewer.get(path).status_code == 403
    with api.client(Scope.ADMIN) as admin:
        assert admin.get("/api/v1/system/logs").json() == {"items": []}, "this API knows no folder of logs"
        assert admin.get("/api/v1/system/logs/api").status_code == 404
        assert admin.get("/api/v1/system/logs/..%2Fsecret").status_code in (404, 422)
    history = viewer.get("/api/v1/system/history").json()
    assert len(history["at"]) == len(history["cpu"]) == len(history["memory"])


def test_parts_that_do_not_work_are_named(viewer: httpx.Client, api_database: str, tmp_path: Path) -> None:
    # the stand-in of the train worker serves its interactive queue, so no kind of worker is away
    assert viewer.get("/api/v1/system/silent").json() == {"parts": []}
    with running_api(api_database, "127.0.0.1:1", tmp_path) as alone, alone.client(Scope.VIEWER) as client:
        (part,) = client.get("/api/v1/system/silent").json()["parts"]
        assert part["name"] == "temporal" and part["problem"].startswith(("not reachable", "no answer"))
