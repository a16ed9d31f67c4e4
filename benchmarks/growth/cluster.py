"""A league on a cluster as a queueing network, and which part of it is full first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.growth.costs import Costs
from benchmarks.growth.simulation import Result, Visit, simulate_closed

FULL = 0.9
"""The utilisation from which a station counts as the limit."""
EVENLY = {"plan_generation": 1 / 3, "record_generation": 1 / 3, "judge_generation": 1 / 3}
"""The shares of the store's activities where none were measured."""
BEFORE = "plan_generation"
"""The store's activity that comes before the training; the others follow it."""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """What the simulated installation has. These are assumptions, and printed with every result."""

    nodes: int
    slots_per_node: int = 8
    """Generations that a node trains at once."""
    generation_seconds: float = 30.0
    league_players: int = 100
    """Players of one trial; more players are more trials."""
    temporal_cores: int = 8
    postgres_cores: int = 8
    store_worker_cores: int = 4
    nodes_per_train_worker: int = 10
    """A train worker is one process, which drives the crews of these nodes."""
    artifact_bytes_per_second: float = 1.25e9
    """Of the artifact store, 10 Gbit/s."""
    checkpoint_bytes: float = 10e6
    commit_seconds: float = 0.002
    """The time a commit takes the disk of Postgres, as if none shared a flush with another."""
    ray_call_seconds: float = 0.001
    """The train worker's time for one call to a crew."""
    heartbeat_seconds: float = 8.0
    """Between two heartbeats that the SDK sends: 0.8 of the activity's heartbeat timeout."""
    call_seconds: float = 0.2
    """The length of one call to a crew: `workers.crews.call_timer`."""


def stations(cluster: Cluster) -> dict[str, float]:
    """The servers of each station."""
    return {
        "training slots": cluster.nodes * cluster.slots_per_node,
        "Temporal": cluster.temporal_cores,
        "Postgres": cluster.postgres_cores,
        "store worker": cluster.store_worker_cores,
        "train worker": max(1, cluster.nodes // cluster.nodes_per_train_worker),
        "artifacts": 1,
        "disk of Postgres": 1,
    }


def visits(cluster: Cluster, costs: Costs) -> list[Visit]:
    """One generation: the store's activities around the training, each with its share of Temporal's work.

    The measured generation lasts a moment. A longer one has heartbeats, each as dear as an action, and more calls.
    """
    cpu, shares = costs.cpu_seconds, costs.store or EVENLY
    each = cpu["temporal"] / (len(shares) + 1)
    heartbeats = cluster.generation_seconds / cluster.heartbeat_seconds
    driving = cpu["train-worker"] + cluster.generation_seconds / cluster.call_seconds * cluster.ray_call_seconds

    def call(share: float) -> list[Visit]:
        return [
            Visit(station="Temporal", seconds=each),
            Visit(station="store worker", seconds=cpu["store-worker"] * share),
            Visit(station="Postgres", seconds=cpu["postgres"] * share),
            Visit(station="disk of Postgres", seconds=cluster.commit_seconds * costs.commits * share),
        ]

    moved = 2 * cluster.checkpoint_bytes / cluster.artifact_bytes_per_second  # read once by its crew, written once
    train = [
        Visit(station="Temporal", seconds=each + cpu["temporal"] * heartbeats / costs.actions),
        Visit(station="train worker", seconds=driving),
        Visit(station="artifacts", seconds=moved),
        Visit(station="training slots", seconds=cluster.generation_seconds, exponential=True),
    ]
    before = [visit for name, share in shares.items() if name == BEFORE for visit in call(share)]
    after = [visit for name, share in shares.items() if name != BEFORE for visit in call(share)]
    return [*before, *train, *after]


def simulate(players: int, cluster: Cluster, costs: Costs, seed: int = 1) -> Result:
    """So many players, for as long as the fullest station needs for two rounds of all of them."""
    span = 2 * max(2 * cluster.generation_seconds, _longest_round(stations(cluster), visits(cluster, costs), players))
    return simulate_closed(
        stations(cluster), visits(cluster, costs), customers=players, seconds=span, warm_up=span / 2, seed=seed
    )


def _longest_round(servers: Mapping[str, float], visited: Sequence[Visit], customers: int) -> float:
    """Seconds that the fullest station needs to serve all customers once."""
    demand: dict[str, float] = {}
    for visit in visited:
        demand[visit.station] = demand.get(visit.station, 0.0) + visit.seconds
    return max(customers * seconds / servers[name] for name, seconds in demand.items())


def row(players: int, cluster: Cluster, costs: Costs) -> dict[str, Any]:
    """One line of the table of growth."""
    actions = costs.actions + cluster.generation_seconds / cluster.heartbeat_seconds
    result = simulate(players, cluster, costs)
    used = {name: round(each.utilisation, 4) for name, each in result.stations.items()}
    fullest = max(used, key=lambda name: used[name])
    return {
        "players": players,
        "nodes": cluster.nodes,
        "generations_per_second": round(result.rate, 3),
        "generation_seconds": round(result.round_seconds, 2),
        "temporal_actions_per_second": round(result.rate * actions, 1),
        "commits_per_second": round(result.rate * costs.commits, 1),
        "artifact_gb_per_second": round(result.rate * 2 * cluster.checkpoint_bytes / 1e9, 4),
        "utilisation": used,
        "fullest": fullest,
        "limit": fullest if used[fullest] >= FULL else None,
    }


def limits(cluster: Cluster, costs: Costs) -> dict[str, dict[str, float]]:
    """For each part, the generations a second at which it is full: servers by seconds of service in a generation."""
    actions = costs.actions + cluster.generation_seconds / cluster.heartbeat_seconds
    demand: dict[str, float] = {}
    for visit in visits(cluster, costs):
        demand[visit.station] = demand.get(visit.station, 0.0) + visit.seconds
    return {
        name: {
            "generations_per_second": round(servers / demand[name], 2),
            "temporal_actions_per_second": round(servers / demand[name] * actions, 1),
            "commits_per_second": round(servers / demand[name] * costs.commits, 1),
            "players": round(servers / demand[name] * cluster.generation_seconds),
        }
        for name, servers in stations(cluster).items()
        if demand.get(name) and name != "training slots"
    }


def one_machine(players: int, costs: Costs, cores: float) -> dict[str, float]:
    """All parts on one machine, whose cores are the only station; other work on it leaves `cores` of them."""
    servers = max(1, round(cores))
    slower = servers / cores
    parts = [Visit(station="cores", seconds=each * slower) for each in costs.cpu_seconds.values() if each > 0]
    span = 4 * _longest_round({"cores": servers}, parts, players)
    result = simulate_closed({"cores": servers}, parts, customers=players, seconds=span, warm_up=span / 2, seed=1)
    return {"generations_per_second": result.rate, "commits_per_second": result.rate * costs.commits}


def assumptions(cluster: Cluster) -> Mapping[str, Any]:
    """The cluster without its number of nodes."""
    return {name: value for name, value in asdict(cluster).items() if name != "nodes"}
