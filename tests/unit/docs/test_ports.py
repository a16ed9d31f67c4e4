"""The table of ports names every port that a setting or the Compose file has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lanista.settings import known_settings
from tests.integration.kubernetes.kustomize import Manifest
from tests.integration.kubernetes.manifests import OVERLAYS, of_kind, pods

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/guides/cluster.md").read_text()
TABLE = PAGE.split("\n## Ports\n")[1].split("\n## ")[0]
COMPOSE = (ROOT / "docker-compose.yml").read_text()


def listed() -> set[int]:
    """The ports of the table, ranges included."""
    found: set[int] = set()
    for row in re.findall(r"^\| ([^|]+) \|", TABLE, re.MULTILINE):
        numbers = [int(number) for number in re.findall(r"\d+", row)]
        found |= set(range(numbers[0], numbers[-1] + 1)) if " to " in row else set(numbers)
    return found


def test_every_setting_of_a_port_is_in_the_table() -> None:
    settings = [name for name in known_settings() if re.search(r"PORT$|METRICS_ADDRESS$|^RAY_ADDRESS$", name)]
    assert len(settings) > 10
    assert [name for name in settings if f"`{name}`" not in TABLE] == []


def test_every_port_of_the_compose_file_is_in_the_table() -> None:
    used = re.findall(r"(?:-port=|PORT: \"|:|,\s*)(\d{4,5})\b(?!\.\d)", COMPOSE)
    ports = {int(port) for port in used if 1024 < int(port) < 65_536}
    assert {5432, 6379, 7233, 8800, 8820, 10_999} <= ports
    inside = {8080}  # of a container whose published port is listed
    assert ports - listed() - inside == set()


RAY_PORTS = {
    "node-manager-port": "6380",
    "object-manager-port": "6381",
    "runtime-env-agent-port": "6382",
    "dashboard-agent-grpc-port": "6383",
    "dashboard-agent-listen-port": "6384",
    "metrics-export-port": "6385",
    "min-worker-port": "10002",
    "max-worker-port": "10999",
}
"""Every port that a Ray node opens, but its head's own and the client's."""


def test_every_ray_node_has_all_its_ports_fixed() -> None:
    starts = len(re.findall(r"ray start --address|- --address=ray-head|- --head", COMPOSE))
    assert starts == 3
    assert {name: COMPOSE.count(f"--{name}={port}") for name, port in RAY_PORTS.items()} == dict.fromkeys(
        RAY_PORTS, starts
    )
    assert {int(port) for port in RAY_PORTS.values()} <= listed()


@pytest.mark.parametrize("manifests", OVERLAYS.values(), ids=OVERLAYS.keys())
def test_every_ray_node_of_kubernetes_has_the_same_ports(manifests: list[Manifest]) -> None:
    ray = of_kind(manifests, "RayCluster")["lanista"]["spec"]
    groups = [ray["headGroupSpec"], *ray["workerGroupSpecs"]]
    assert len(groups) >= 2
    for group in groups:
        assert group["rayStartParams"].items() >= RAY_PORTS.items()
        opened = {port["name"]: port["containerPort"] for port in group["template"]["spec"]["containers"][0]["ports"]}
        assert opened in ({"gcs": 6379}, {"node-manager": int(RAY_PORTS["node-manager-port"])})
    (train,) = (pod for pod in pods(manifests) if pod.component == "train-worker")
    assert {f"--{name}={port}" for name, port in RAY_PORTS.items()} <= set(train.command[-1].split())
