"""Crews on several hosts, made of namespaces: over two hosts where one is too small, and not where artifacts lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.stacks.cluster_stack import ARTIFACTS, ClusterStack
from benchmarks.stacks.hosts import network, why_no_hosts

REASON = why_no_hosts()


@pytest.mark.skipif(REASON is not None, reason=f"hosts: {REASON}")
def test_crews_train_over_two_hosts_and_avoid_one_without_the_artifacts(tmp_path: Path) -> None:
    fused = {"rollout_actors": 2, "topology": "fused"}
    with network(tmp_path / "hosts") as net:
        stack = ClusterStack(net)
        stack.start_head()
        for name in ("node1", "node2"):
            stack.add_node(name, 1)
        stack.add_node("blind", 2, shares=False)
        driver = stack.add_node("train1", 0)
        stack.wait_for_ray(driver, nodes=5)
        told = stack.drive(
            driver,
            {"artifacts": ARTIFACTS, "nodes": 2, "tasks": [fused, {"topology": "split"}, {"rollout_actors": 1}]},
        )
    over_two, split, alone = told["generations"]
    assert told["usable"] == ["node1", "node2"], "the head and the driver's node have no CPUs"
    assert "cannot read the artifacts" in told["excluded"]["blind"]
    assert over_two["hosts"] == split["hosts"] == ["node1", "node2"]
    assert len(alone["hosts"]) == 1
    assert all(generation["steps"] > 1_000 and generation["games"] > 0 for generation in told["generations"])
