"""Ray's autoscaler, with its provider of pretended machines, starts nodes for crews that wait, and removes idle ones.

On a host of its own: the autoscaler starts and ends processes of Ray as it likes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.stacks.hosts import Host, network, why_no_hosts

REASON = why_no_hosts()
SCRIPT = """
import json, logging, sys, time
from dataclasses import replace
from pathlib import Path
import ray
from benchmarks.stacks.ray_driver import TASK
from orchestrator.storage.artifacts import ArtifactStore
from workers.cluster.ray_view import RayView
from workers.cluster.watch import ClusterWatch
from workers.crews.errors import CrewUnavailable
from workers.crews.generation import run_generation
from workers.crews.hosts.cpu_ledger import CpuLedger
from workers.crews.pool import CrewPool

ray.init(address="auto", log_to_driver=False, logging_level=logging.WARNING)
store = ArtifactStore(sys.argv[1])
cluster = ClusterWatch(RayView(store))
cluster.start()
task = replace(TASK, rollout_actors=2)
told = {"cpus_at_first": cluster.cpus}

def train(autoscales):
    crews = CrewPool(store, CpuLedger(lambda: 2), cluster=cluster, autoscales=autoscales)
    try:
        return run_generation(
            task, store=store, progress=lambda now: None, should_stop=lambda: False, crews=crews
        ).steps
    except CrewUnavailable as error:
        return str(error)
    finally:
        told.setdefault("cpus", []).append(cluster.cpus)
        crews.close()

told["refused"] = train(autoscales=False)
told["steps"] = train(autoscales=True)
deadline = time.monotonic() + 120
while cluster.cpus and time.monotonic() < deadline:
    time.sleep(0.5)
# Ray writes about nodes that go on the standard output
Path("/tmp/told.json").write_text(json.dumps({**told, "cpus_at_last": cluster.cpus}))
"""


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with network(tmp_path / "hosts") as net:
        yield net.host("alone")


NOTHING: dict[str, Any] = {"resources": {}, "node_config": {}, "min_workers": 0, "max_workers": 0}
CONFIG: dict[str, Any] = {
    "cluster_name": "pretended",
    "provider": {
        "type": "fake_multinode",
        "use_node_id_as_ip": True,  # its nodes share one address
        "disable_node_updaters": True,
        "disable_launch_config_check": True,
    },
    "head_node_type": "ray.head.default",
    "available_node_types": {
        "ray.head.default": {**NOTHING, "resources": {"CPU": 0}},
        "cpu": {**NOTHING, "resources": {"CPU": 1, "object_store_memory": 100_000_000}, "max_workers": 2},
    },
    "max_workers": 2,
    "upscaling_speed": 1.0,
    "idle_timeout_minutes": 0.1,
    "auth": {},
    "file_mounts": {},
    "cluster_synced_files": [],
    **{
        f"{kind}_commands": []
        for kind in ("initialization", "setup", "head_setup", "worker_setup", "head_start_ray", "worker_start_ray")
    },
}
"""A head without CPUs, and up to two machines of one CPU that are removed after six idle seconds."""


@pytest.mark.skipif(REASON is not None, reason=f"no hosts can be made here: {REASON}")
def test_nodes_come_for_a_crew_that_waits_and_go_when_it_has_ended(host: Host) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("RAY_", "LANISTA_"))},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "RAY_AUTH_MODE": "disabled",
        "RAY_FAKE_CLUSTER": "1",
        "AUTOSCALER_UPDATE_INTERVAL_S": "1",
    }
    (host.folder / "autoscaling.json").write_text(json.dumps(CONFIG))
    start = ["ray", "start", "--head", "--num-cpus=0", "--autoscaling-config=/tmp/autoscaling.json", "--block"]
    options = ["--object-store-memory=100000000", "--include-dashboard=false", "--disable-usage-stats"]
    host.spawn(*start, *options, env=environment, log="ray.log")
    host.run("bash", "-c", "until ray health-check 2> /dev/null; do sleep 0.5; done", env=environment)
    host.run(sys.executable, "-c", SCRIPT, "/tmp/artifacts", env=environment, seconds=300)
    told = json.loads((host.folder / "told.json").read_text())
    assert told["cpus_at_first"] == told["cpus_at_last"] == 0
    assert "needs 2 CPUs" in told["refused"], "without an autoscaler a crew that no node holds is refused"
    assert told["steps"] >= 2_000 and told["cpus"] == [0, 2], "two nodes came for it"
