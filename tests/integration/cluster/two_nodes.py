"""Two Ray nodes in one process's Ray: what the watch, crews and matches do when one joins, is drained and leaves.

Run by test_nodes.py in a process of its own, because a process has one Ray; prints what it saw as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

os.environ.update(RAY_AUTH_MODE="disabled", RAY_worker_niceness="0", RAY_raylet_start_wait_time_s="600")

import ray
from ray.cluster_utils import Cluster
from temporalio.testing import ActivityEnvironment

from orchestrator.catalog import Component
from orchestrator.contracts.play import Contender, PlayRequest
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.training.generation_task import TASK
from workers.activities.playing import PlayActivities
from workers.cluster.ray_view import RayView
from workers.cluster.watch import ClusterWatch
from workers.crews.all_reduce import this_process
from workers.crews.generation import run_generation
from workers.crews.hosts.cpu_ledger import CpuLedger
from workers.crews.pool import CrewPool

PATIENCE = 600


def until(check: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not check():
        if time.monotonic() > deadline:
            raise TimeoutError("did not happen")
        time.sleep(0.1)


def trained_on(pool: CrewPool, store: ArtifactStore, actors: int) -> list[str]:
    """Train a generation; gives the nodes of its crew."""
    used: set[str] = set()
    run_generation(
        replace(TASK, rollout_actors=actors),
        store=store,
        progress=lambda _: used.update(node for crew in pool._lent for node in crew.nodes),
        should_stop=lambda: False,
        crews=pool,
    )
    return sorted(used)


def main() -> None:
    store = ArtifactStore(sys.argv[1])
    seen: dict[str, Any] = {}
    servers = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    ray.init(address=servers.address, log_to_driver=False)
    watch = ClusterWatch(RayView(store))
    watch.start()
    pool = CrewPool(store, CpuLedger(lambda: watch.cpus), cluster=watch)
    head = ray.get_runtime_context().get_node_id()
    seen["alone"] = [watch.cpus, trained_on(pool, store, 1) == [head]]

    second = servers.add_node(num_cpus=1)
    until(lambda: watch.cpus == 2)
    other = next(node for node in watch.state.usable if node != head)
    seen["over_both"] = trained_on(pool, store, 2) == sorted([head, other])

    playing = PlayActivities(sys.argv[1], cluster=watch)
    contenders = [Contender(version=name, player=name, bot="random") for name in ("a", "b")]
    games = PlayRequest(
        trial="t", occasion="test", game=Component(id="tic_tac_toe"), contenders=contenders, pairs=1, seed=1
    )
    ActivityEnvironment().run(playing.play_games, games)
    (actor,) = playing._idle
    seen["match_placed"] = playing._node_of[actor] in (head, other)

    accepted, _ = ray._raylet.GcsClient(address=servers.address).drain_node(other, 1, "test", 0)
    until(lambda: watch.state.excluded.get(other) == "is draining" or other not in watch.state.names)
    until(lambda: not pool._idle)  # the crew on both nodes is closed
    seen["drained"] = [accepted, trained_on(pool, store, 1) == [head]]
    servers.remove_node(second, allow_graceful=False)
    until(lambda: list(watch.state.usable) == [head] and not watch.state.excluded)
    seen["left"] = watch.cpus
    seen["address"] = ray.get(ray.remote(this_process).remote()).address == ray.nodes()[0]["NodeManagerAddress"]
    pool.close()
    sys.stdout.write(f"{json.dumps(seen)}\n")
    ray.shutdown()
    servers.shutdown()


if __name__ == "__main__":
    main()
