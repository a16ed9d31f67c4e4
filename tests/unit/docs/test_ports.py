"""The table of ports names every port that a setting or the Compose file has."""

from __future__ import annotations

import re
from pathlib import Path

from lanista.settings import known_settings

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


def test_every_ray_node_has_all_its_ports_fixed() -> None:
    flags = [
        "--node-manager-port=",
        "--object-manager-port=",
        "--runtime-env-agent-port=",
        "--dashboard-agent-grpc-port=",
    ]
    flags += ["--dashboard-agent-listen-port=", "--metrics-export-port=", "--min-worker-port=", "--max-worker-port="]
    starts = len(re.findall(r"ray start --address|- --address=ray-head|- --head", COMPOSE))
    assert starts == 3
    assert {flag: COMPOSE.count(flag) for flag in flags} == dict.fromkeys(flags, starts)
