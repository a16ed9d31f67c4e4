"""The rows of `benchmarks.cluster`, one function each: it makes a cluster and returns what it saw."""

from __future__ import annotations

import importlib.util
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.stacks.cluster_stack import ROOT, ClusterStack, cluster_stack
from benchmarks.stacks.hosts import Host

PATIENCE = 900.0
"""Seconds for anything to happen; a busy machine is slow."""
GENERATIONS = 6
S3_PORT = 9000


def league(*, players: int = 2, game: dict[str, Any] | None = None, **generation: Any) -> dict[str, Any]:
    """A small league of main players and a bot, with gates; it runs until it is stopped."""
    mains = [{"name": f"main{number}", "role": "main"} for number in range(1, players + 1)]
    return {
        "game": game or {"id": "tic_tac_toe"},
        "model": {"id": "mlp", "hidden": [16]},
        "seed": 3,
        "generation": {"steps": 4_000, "tables": 64, **generation},
        "league": {
            "preset": "pfsp",
            "players": [*mains, {"name": "random", "role": "bot", "bot": "random"}],
            "snapshot": {"min_steps": 4_000, "win_rate": 0.6, "max_steps": 8_000},
            "champion_gate": {"test": "sprt", "elo0": 0, "elo1": 200, "max_pairs": 32},
        },
    }


def one_host(folder: Path) -> dict[str, Any]:
    """Crews of two processes that fit on one host."""
    with _cluster(folder, {"node1": 2, "node2": 1}) as stack:
        return _train(stack, league(rollout_actors=2), least=GENERATIONS)


def two_hosts(folder: Path) -> dict[str, Any]:
    """Crews of two processes, one on each of two hosts."""
    with _cluster(folder, {"node1": 1, "node2": 1}) as stack:
        return _train(stack, league(rollout_actors=2), least=GENERATIONS)


def split_over_two(folder: Path) -> dict[str, Any]:
    """The split topology: the trainer on one host, the process that plays on the other."""
    with _cluster(folder, {"node1": 1, "node2": 1}) as stack:
        return _train(stack, league(topology="split"), least=GENERATIONS)


def own_game(folder: Path) -> dict[str, Any]:
    """A game of one's own, shipped as an archive to hosts that have not its file."""
    with _cluster(folder, {"node1": 1, "node2": 1}) as stack:
        here = stack.control.folder / "mine"
        here.mkdir()
        shutil.copy(ROOT / "examples" / "own_game.py", here / "own_game.py")
        trial = stack.ship_trial(here, league(game={"id": "own_game:Nim", "most": 15}), "own")
        return _watch(stack, trial, least=GENERATIONS)


def s3_artifacts(folder: Path) -> dict[str, Any]:
    """Artifacts in an object store, and no host with a shared folder."""
    missing = [name for name in ("s3fs", "moto") if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"needs {', '.join(missing)}: pip install 's3fs' 'moto[server]'")
    settings = {"AWS_ACCESS_KEY_ID": "measured", "AWS_SECRET_ACCESS_KEY": "measured", "AWS_DEFAULT_REGION": "us-east-1"}
    with cluster_stack({**settings, "LANISTA_ARTIFACTS": "s3://lanista/artifacts"}, folder, start=False) as stack:
        stack.start_s3(S3_PORT, "lanista")
        stack.up()
        _populate(stack, {"node1": 1, "node2": 1}, shares=False)
        return _train(stack, league(), least=GENERATIONS)


def node_joins(folder: Path) -> dict[str, Any]:
    """A node that joins while two players share one CPU: seconds until a crew runs on it."""
    with _cluster(folder, {"node1": 1}) as stack:
        trial = stack.start_trial(league(), "joins")
        _wait_for_commits(stack, trial, 2)
        began = time.monotonic()
        node = stack.add_node("node2", 1)
        _until(lambda: stack.alive_nodes() == 4, "the node to join")
        joined = time.monotonic()
        _until(lambda: _has_crew(node), "a crew on the node that joined")
        row = {"seconds_to_join": _since(began), "seconds_from_joined_to_crew": _since(joined)}
        return {**row, **_watch(stack, trial, least=GENERATIONS)}


def node_killed(folder: Path) -> dict[str, Any]:
    """A node that dies with its crews: seconds until each player commits again."""
    return _lose(folder, Host.kill)


def link_cut(folder: Path) -> dict[str, Any]:
    """A node whose cable is pulled: seconds until each player commits again, and the node rejoins after."""
    return _lose(folder, Host.cut)


def node_drained(folder: Path) -> dict[str, Any]:
    """A node that is drained: no attempt is lost, and nothing new starts there."""
    with _cluster(folder, {"node1": 1, "node2": 1}) as stack:
        trial = stack.start_trial(league(), "drained")
        _wait_for_commits(stack, trial, 2)
        stack.drain(stack.network.hosts["node2"])
        began = time.monotonic()
        _until(lambda: not _has_crew(stack.network.hosts["node2"]), "the drained node to be empty")
        empty = _since(began)
        return {"seconds_until_empty": empty, **_watch(stack, trial, least=GENERATIONS)}


def two_train_workers(folder: Path) -> dict[str, Any]:
    """Two train workers and two leagues on two CPUs: the longest time that a player waited for its next commit."""
    with _cluster(folder, {"node1": 1, "node2": 1}) as stack:
        stack.add_train_worker("train2")
        trials = [stack.start_trial(league(), f"shared-{number}") for number in (1, 2)]
        for trial in trials:
            _wait_for_commits(stack, trial, 3)
        rows = [_watch(stack, trial, least=3 * GENERATIONS) for trial in trials]
        return {"leagues": rows, "audit": rows[-1]["audit"], "audit_counts": rows[-1]["audit_counts"]}


ROWS: dict[str, Callable[[Path], dict[str, Any]]] = {
    row.__name__: row
    for row in (
        one_host,
        two_hosts,
        split_over_two,
        s3_artifacts,
        own_game,
        node_joins,
        node_killed,
        link_cut,
        node_drained,
        two_train_workers,
    )
}


@contextmanager
def _cluster(folder: Path, nodes: dict[str, float]) -> Iterator[ClusterStack]:
    with cluster_stack(folder=folder) as stack:
        _populate(stack, nodes)
        yield stack


def _populate(stack: ClusterStack, nodes: dict[str, float], *, shares: bool = True) -> None:
    for name, cpus in nodes.items():
        stack.add_node(name, cpus, shares=shares)
    stack.add_train_worker("train1", shares=shares)
    _until(lambda: stack.alive_nodes() == len(nodes) + 2, "all nodes to join")


def _lose(folder: Path, how: Callable[[Host], None]) -> dict[str, Any]:
    with _cluster(folder, {"node1": 1, "node2": 1}) as stack:
        trial = stack.start_trial(league(), "lost")
        _wait_for_commits(stack, trial, 2)
        lost = stack.network.hosts["node2"]
        _until(lambda: _has_crew(lost), "a crew on the node")
        before, began = _commits(stack, trial), time.monotonic()
        how(lost)
        again: dict[str, float] = {}

        def all_again() -> bool:
            now = _commits(stack, trial)
            again.update({name: _since(began) for name in now if now[name] > before[name] and name not in again})
            return len(again) == len(before)

        _until(all_again, "a commit of each player")
        stack.restart(lost)  # a new machine in its place
        _until(lambda: _has_crew(lost), "a crew on the node that came back")
        row = {"seconds_to_next_commit": again, "seconds_until_used_again": _since(began)}
        return {**row, **_watch(stack, trial, least=GENERATIONS)}


def _train(stack: ClusterStack, spec: dict[str, Any], least: int) -> dict[str, Any]:
    return _watch(stack, stack.start_trial(spec, "measured"), least)


def _watch(stack: ClusterStack, trial: str, least: int) -> dict[str, Any]:
    """Wait for this many generations in all, stop the trial, audit, and report."""
    _until(lambda: sum(_commits(stack, trial).values()) >= least, f"{least} generations")
    stack.call("POST", f"/trials/{trial}/stop", {})
    _until(lambda: stack.call("GET", f"/trials/{trial}")["status"] in ("stopped", "completed"), "the trial to stop")
    made = stack.rows(
        "SELECT extract(epoch FROM finished_at - started_at)::float, steps, attempt FROM generations "
        "WHERE trial_id = %s",
        trial,
    )
    audit = stack.audit()
    return {
        "generations": len(made),
        "generations_of": _commits(stack, trial),
        "median_generation_seconds": round(statistics.median(row[0] for row in made), 2),
        "steps": sum(row[1] for row in made),
        "retried": sum(row[2] > 1 for row in made),
        "longest_gap_seconds": _longest_gap(stack, trial),
        "gates": stack.rows("SELECT count(*) FROM gates WHERE trial_id = %s", trial)[0][0],
        "failures": [row[0] for row in stack.rows(_FAILURES, trial)],
        "audit": len(audit["findings"]),
        "audit_counts": audit["counts"],
    }


_FAILURES = (
    "SELECT payload->>'failure' || ': ' || left(payload->>'problem', 160) FROM events "
    "WHERE trial_id = %s AND payload ? 'failure' ORDER BY id"
)


def _commits(stack: ClusterStack, trial: str) -> dict[str, int]:
    """Generations of each learning player."""
    found = stack.rows(
        "SELECT p.name, count(g.number) FROM players p LEFT JOIN generations g ON g.player_id = p.id "
        "WHERE p.trial_id = %s AND p.role <> 'bot' AND p.name LIKE 'main%%' GROUP BY p.name ORDER BY p.name",
        trial,
    )
    return {str(name): int(count) for name, count in found}


def _longest_gap(stack: ClusterStack, trial: str) -> float:
    """The longest time between two commits of one player."""
    found = stack.rows(
        "SELECT max(gap)::float FROM (SELECT extract(epoch FROM recorded_at - lag(recorded_at) OVER "
        "(PARTITION BY player_id ORDER BY number)) AS gap FROM generations WHERE trial_id = %s) AS gaps",
        trial,
    )
    return round(found[0][0] or 0.0, 1)


def _wait_for_commits(stack: ClusterStack, trial: str, least: int) -> None:
    """Until each learning player has this many generations."""
    _until(lambda: min(_commits(stack, trial).values(), default=0) >= least, f"{least} generations of each player")


def _has_crew(host: Host) -> bool:
    """Whether a process of a crew runs on the host."""
    return bool(host.run("bash", "-c", "grep -al ray::FusedActor /proc/[0-9]*/cmdline || true", env={"PATH": "/bin"}))


def _until(check: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not check():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {PATIENCE:g} s for {what}")
        time.sleep(0.25)


def _since(began: float) -> float:
    return round(time.monotonic() - began, 1)
