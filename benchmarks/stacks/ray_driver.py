"""A Ray driver on a host of a cluster: trains generations as the train worker does, and prints what it saw as JSON.

Takes one JSON object: `artifacts`, and `tasks`, each with changes to a small task and `nodes`: how many must be usable.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from dataclasses import replace
from typing import Any

import ray

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask, PlannedOpponent, Topology
from orchestrator.storage.artifacts import ArtifactStore
from workers.cluster.ray_view import RayView
from workers.cluster.watch import ClusterWatch
from workers.crews.generation import run_generation
from workers.crews.hosts.cpu_ledger import CpuLedger
from workers.crews.pool import CrewPool

PATIENCE = 300.0
TASK = GenerationTask(
    game=Component(id="tic_tac_toe"),
    model=Component(id="mlp", options={"hidden": [16]}),
    algorithm=Component(id="ppo", options={"rollout_steps": 8}),
    player="main",
    checkpoint=None,
    opponents=(PlannedOpponent(player="random", version="random", probability=1.0, checkpoint=None, bot="random"),),
    steps=2_000,
    tables=64,
    seed=11,
)


def main() -> None:
    """Run the tasks of the request."""
    request: dict[str, Any] = json.loads(sys.argv[1])
    ray.init(address="auto", log_to_driver=False, logging_level=logging.WARNING)
    store = ArtifactStore(request["artifacts"])
    cluster = ClusterWatch(RayView(store))
    cluster.start()
    crews = CrewPool(store, CpuLedger(lambda: cluster.cpus), cluster=cluster)
    done = [_run(task, store, crews) for task in request["tasks"]]
    state = cluster.state
    names = {"usable": _hosts(state.usable, state.names), "generations": done}
    print(json.dumps({**names, "excluded": {_host(state.names[key]): why for key, why in state.excluded.items()}}))


def _run(changes: dict[str, Any], store: ArtifactStore, crews: CrewPool) -> dict[str, Any]:
    assert crews.cluster is not None
    _wait_for_nodes(crews.cluster, changes.pop("nodes"))
    topology = Topology(changes.pop("topology", TASK.topology))
    began, used = time.monotonic(), set[str]()

    def on_progress(_: object) -> None:
        used.update(node for crew in crews._lent for node in crew.nodes)

    outcome = run_generation(
        replace(TASK, topology=topology, **changes),
        store=store,
        progress=on_progress,
        should_stop=lambda: False,
        crews=crews,
    )
    crews.close()
    return {
        "hosts": _hosts(used, crews.cluster.state.names),
        "steps": outcome.steps,
        "games": sum(tally.games for tally in outcome.tallies),
        "sha256": outcome.checkpoint.sha256,
        "seconds": round(time.monotonic() - began, 1),
    }


def _wait_for_nodes(cluster: ClusterWatch, count: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while len(cluster.state.usable) < count or any("is checked" in why for why in cluster.state.excluded.values()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"usable: {list(cluster.state.usable)}, excluded: {cluster.state.excluded}")
        time.sleep(0.2)


def _host(name: str) -> str:
    return name.partition(" ")[0]


def _hosts(nodes: Any, names: Any) -> list[str]:
    return sorted(_host(names[node]) for node in nodes)


if __name__ == "__main__":
    main()
