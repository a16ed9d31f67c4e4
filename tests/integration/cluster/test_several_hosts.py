"""A crew over two hosts, which share nothing but a folder: own network, hostname, processes and /dev/shm each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.stacks.cluster_stack import ARTIFACTS, cluster_stack
from benchmarks.stacks.hosts import why_no_hosts

REASON = why_no_hosts()


@pytest.mark.skipif(REASON is not None, reason=f"no hosts can be made here: {REASON}")
def test_a_crew_of_two_processes_trains_on_a_host_and_on_one_that_joined(tmp_path: Path) -> None:
    alone, together = {"nodes": 1}, {"nodes": 2, "rollout_actors": 2}
    with cluster_stack(folder=tmp_path / "hosts", start=False) as stack, ThreadPoolExecutor(1) as threads:
        stack.start_head(cpus=1)
        request = {"artifacts": ARTIFACTS, "tasks": [alone, together]}
        driver = threads.submit(stack.drive, stack.head, request)
        stack.add_node("node1", 1)
        told = driver.result()
    first, second = told["generations"]
    assert len(first["hosts"]) == 1 and first["steps"] >= 2_000
    assert second["hosts"] == ["head", "node1"], "one process on each host: gradients travelled between them"
    assert second["steps"] >= 2_000 and second["games"] > 0
    assert told["usable"] == ["head", "node1"] and told["excluded"] == {}
