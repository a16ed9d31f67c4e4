"""Trainers on nodes with GPUs, rollouts on nodes without: on a Ray of two nodes, one of which is told of GPUs.

Ray believes what it is told: there is no GPU. So the actors here only say where they are and what Ray gave them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json, sys
import ray
from ray.cluster_utils import Cluster
from dataclasses import replace
from orchestrator.contracts.generations import ProcessResources, Topology
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.training.generation_task import TASK
from workers.crews.hosts import ray_host
from workers.crews.hosts.ray_host import RayHost
from workers.crews.plan import crew_plan

class Here:
    def __init__(self, plan, store, rank):
        pass

    def here(self):
        return [ray.get_runtime_context().get_node_id(), len(ray.get_gpu_ids())]

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "num_gpus": 0, "include_dashboard": False})
nodes = {
    cluster.add_node(num_cpus=4, num_gpus=2).node_id: "gpu",
    cluster.add_node(num_cpus=4, num_gpus=0).node_id: "cpu",
}
cluster.wait_for_nodes()
ray.init(address=cluster.address, log_to_driver=False)
ray_host.SPARE_SECONDS = float(sys.argv[1])
task = replace(TASK, rollout_actors=3, trainers=1, threads=1, topology=Topology.SPLIT,
               resources=ProcessResources(device="cuda", sampling_device="cpu"))
plan = crew_plan(task)
crews = []
for crew in range(2):
    host = RayHost()
    host.reserve(plan, lambda: False, lambda why: None)
    # rollouts first: none of them may take the trainer's place
    rollouts = host.launch(Here, 3, plan.rollout_bundle, plan, ArtifactStore(sys.argv[2]))
    trainers = host.launch(Here, 1, plan.trainer_bundle, plan, ArtifactStore(sys.argv[2]))
    found = [ray.get([actor.here.remote() for actor in kind]) for kind in (trainers, rollouts)]
    crews.append([sorted([nodes[node], gpus] for node, gpus in kind) for kind in found])
print(json.dumps(crews))
ray.shutdown()
cluster.shutdown()
"""


def test_trainers_get_the_gpus_and_rollouts_the_other_nodes_while_they_have_room(tmp_path: Path) -> None:
    environment = os.environ | {"RAY_AUTH_MODE": "disabled", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "3", str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    first, second = json.loads(done.stdout.splitlines()[-1])
    assert first == [[["gpu", 1]], [["cpu", 0]] * 3], "though all would fit on the node with GPUs"
    assert second == [[["gpu", 1]], [["cpu", 0], ["gpu", 0], ["gpu", 0]]], "one CPU was left there: two go elsewhere"
