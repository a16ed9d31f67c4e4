"""The rows of `benchmarks.cluster`, one function each: what happens to a league on a cluster, and what was seen."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from benchmarks.cluster.builds import (
    Phase,
    check_builds,
    commit_moments,
    count_by_phase,
    longest_gaps,
    served,
    under_way,
)
from benchmarks.cluster.observing import (
    commits,
    crew_processes,
    finish,
    league,
    since,
    until,
    usable,
    wait_for_commits,
)
from benchmarks.stacks.cluster_stack import ROOT, ClusterStack
from benchmarks.stacks.hosts import Host

GENERATIONS = 8
BUSY = 40_000
"""Steps of generations that last long enough for players to wait for each other's crews."""
LONG = 150_000
"""Steps of generations of which one is under way at any moment."""
DEPLOYMENT = "leagues"
Row = Callable[[ClusterStack], dict[str, Any]]
"""It gets a cluster of two nodes with one CPU each and a train worker, or more where earlier rows have added them."""


def one_process(stack: ClusterStack) -> dict[str, Any]:
    """Crews of one process, on two hosts."""
    return _train(stack, league(), "one-process")


def two_processes_over_two_hosts(stack: ClusterStack) -> dict[str, Any]:
    """Crews of two processes, one on each of two hosts; gradients by gloo."""
    return _train(stack, league(rollout_actors=2), "two-processes")


def split_over_two_hosts(stack: ClusterStack) -> dict[str, Any]:
    """The split topology: the trainer on one host, the process that plays on the other."""
    return _train(stack, league(topology="split"), "split")


def cost_of_two_hosts(stack: ClusterStack) -> dict[str, Any]:
    """The same long generations by crews of two processes: fused and split over two hosts, then fused on one host."""
    spec = league(players=1, game={"id": "connect_four"}, steps=400_000, tables=512)
    spec["model"] = {"id": "mlp"}
    spec["league"] |= {"champion_gate": None, "snapshot": {"min_steps": 10**9, "max_steps": 10**9}}
    rows = {
        "two hosts": _of_one_player(stack, spec, "cost-two", {"rollout_actors": 2}),
        "two hosts, split": _of_one_player(stack, spec, "cost-split", {"topology": "split"}),
    }
    pair = stack.add_node("pair", 2)
    until(lambda: usable(stack, pair), "the node of two CPUs")
    rows["one host"] = _of_one_player(stack, spec, "cost-one", {"rollout_actors": 2})
    pair.kill()
    speeds = {name: row["median_steps_per_second"] for name, row in rows.items()}
    crews = {name: row["most_crew_processes"] for name, row in rows.items()}
    return {"speeds": speeds, "crews": crews, **rows["one host"]}


def own_game(stack: ClusterStack) -> dict[str, Any]:
    """A game of one's own, shipped as an archive: no host but the user's has its file."""
    here = stack.control.folder / "mine"
    here.mkdir()
    shutil.copy(ROOT / "examples" / "own_game.py", here / "shipped_nim.py")
    trial = stack.ship_trial(here, league(game={"id": "shipped_nim:Nim", "most": 15}), "own-game")
    return finish(stack, trial, GENERATIONS)


def node_joins(stack: ClusterStack) -> dict[str, Any]:
    """A node joins while three players share two CPUs: seconds until it is used."""
    trial = stack.start_trial(league(players=3, steps=BUSY), "node-joins")
    wait_for_commits(stack, trial, 2)
    began = time.monotonic()
    node = stack.add_node("node3", 1)
    until(lambda: _has_joined(stack, node), "the node to join")
    joined = time.monotonic()
    until(lambda: crew_processes(node) > 0, "a crew on the node that joined")
    row = {"seconds_to_start_and_join": round(joined - began, 1), "seconds_from_joined_to_crew": since(joined)}
    return {**row, **_go_on(stack, trial)}


def node_without_artifacts(stack: ClusterStack) -> dict[str, Any]:
    """A node joins that does not see the artifacts: it gets no work, and the reason is shown."""
    blind = stack.add_node("blind", 1, shares=False)
    until(lambda: "artifacts" in _problem(stack, blind), "the node's problem")
    row = {"problem_shown": _problem(stack, blind), **_train(stack, league(players=3), "blind")}
    blind.kill()
    if blind.name in row["most_crew_processes"]:
        raise RuntimeError("a crew ran on the node without artifacts")
    return row


def node_killed(stack: ClusterStack) -> dict[str, Any]:
    """A node dies with its crew and is started anew later: seconds until each player commits again."""
    return _lose(stack, "node-killed", Host.kill, ClusterStack.restart)


def link_cut(stack: ClusterStack) -> dict[str, Any]:
    """A node's cable is pulled and put back later: seconds until each player commits again."""
    return _lose(stack, "link-cut", Host.cut, lambda _, host: host.mend())


def node_drained(stack: ClusterStack) -> dict[str, Any]:
    """A node is drained: its generation ends there, and nothing new starts there."""
    trial = stack.start_trial(league(players=3, steps=BUSY), "node-drained")
    drained = stack.network.hosts["node2"]
    wait_for_commits(stack, trial, 2)
    until(lambda: crew_processes(drained) > 0, "a crew on the node")
    stack.drain(drained)
    began = time.monotonic()
    until(lambda: crew_processes(drained) == 0, "the drained node to be empty")
    row = {"seconds_until_empty": since(began), **_go_on(stack, trial)}
    stack.restart(drained)
    return {**row, "retried_after_drain": row["retried"]}


def two_train_workers(stack: ClusterStack) -> dict[str, Any]:
    """Two train workers, each with a crew of its own, and two leagues: the longest wait of a player for its commit."""
    if "train2" not in stack.network.hosts:
        second = stack.add_train_worker("train2")
        until(lambda: _is_ready(second), "the second train worker")
    trials = [stack.start_trial(league(), f"shared-{number}") for number in (1, 2)]
    for trial in trials:
        wait_for_commits(stack, trial, 3)
    rows = [finish(stack, trial, 2 * GENERATIONS) for trial in trials]
    return {"leagues": rows, **{key: rows[-1][key] for key in ("audit", "audit_counts")}}


def rolling_upgrade(stack: ClusterStack) -> dict[str, Any]:
    """Two builds of the train worker side by side: the new one is promoted, the old one stopped when it is idle."""
    old = _start_build(stack, "old")
    phases = [Phase.now("old build")]
    trial = stack.start_trial(league(steps=LONG), "rolling-upgrade")
    wait_for_commits(stack, trial, 3)
    new = _start_build(stack, "new")
    phases.append(Phase.now("new build beside it"))
    _wait_for_more(stack, trial)
    phases.append(promoted := Phase.now("new build promoted"))
    stack.promote(DEPLOYMENT, "new")
    until(lambda: under_way(stack, old.name) == 0, "the old build's generations to end")
    _wait_for_more(stack, trial)
    stack.stop_train_worker(old)
    phases.append(Phase.now("old build stopped"))
    _wait_for_more(stack, trial)
    row, found = _go_on(stack, trial), served(stack, phases[0].began)
    stack.promote(DEPLOYMENT, None)  # to the train worker of the other rows, which is in no deployment
    for host in (old, new):
        host.kill()
    done = count_by_phase(found, {old.name: "old", new.name: "new"}, phases)
    check_builds(done, [{"old"}, {"old"}, {"old", "new"}, {"new"}])
    seen = {
        "last start of the old build": max(each.started for each in found if each.host == old.name),
        "last end of the old build": max(each.ended for each in found if each.host == old.name),
        "first start of the new build": min(each.started for each in found if each.host == new.name),
    }
    return {
        "seconds_from_promotion_to": {what: _seconds(promoted.began, moment) for what, moment in seen.items()},
        "seconds_between_commits_of_a_player_at_most": longest_gaps(commit_moments(stack, trial), phases),
        "served": done,
        **row,
    }


def two_processes_on_one_host(stack: ClusterStack) -> dict[str, Any]:
    """A crew of two processes that fits on one host, beside hosts that hold one process each; shared memory."""
    large = stack.add_node("large", 2)
    until(lambda: usable(stack, large), "the large node")
    return _train(stack, league(players=1, rollout_actors=2), "one-host")


def s3_artifacts(stack: ClusterStack) -> dict[str, Any]:
    """Artifacts in an object store, and no host with a shared folder."""
    return _train(stack, league(), "s3")


ON_A_SHARED_FOLDER: tuple[Row, ...] = (
    one_process,
    two_processes_over_two_hosts,
    split_over_two_hosts,
    cost_of_two_hosts,
    own_game,
    node_joins,
    node_without_artifacts,
    node_killed,
    link_cut,
    node_drained,
    two_train_workers,
    rolling_upgrade,
    two_processes_on_one_host,
)
ON_S3: tuple[Row, ...] = (s3_artifacts,)


def _lose(
    stack: ClusterStack, name: str, lose: Callable[[Host], None], bring_back: Callable[[ClusterStack, Host], None]
) -> dict[str, Any]:
    trial = stack.start_trial(league(players=3, steps=BUSY), name)
    lost = stack.network.hosts["node2"]
    wait_for_commits(stack, trial, 2)
    until(lambda: crew_processes(lost) > 0, "a crew on the node")
    before, began = commits(stack, trial), time.monotonic()
    lose(lost)
    again: dict[str, float] = {}

    def all_again() -> bool:
        now = commits(stack, trial)
        again.update({name: since(began) for name in now if now[name] > before[name] and name not in again})
        return len(again) == len(before)

    until(all_again, "a commit of each player")
    until(lambda: crew_processes(lost) == 0, "the lost node's processes to end")
    bring_back(stack, lost)
    returned = time.monotonic()
    until(lambda: crew_processes(lost) > 0, "a crew on the node that came back")
    row = {"seconds_to_next_commit": again, "seconds_from_return_to_crew": since(returned)}
    return {**row, **_go_on(stack, trial)}


def _train(stack: ClusterStack, spec: dict[str, Any], name: str) -> dict[str, Any]:
    return finish(stack, stack.start_trial(spec, name), GENERATIONS)


def _of_one_player(stack: ClusterStack, spec: dict[str, Any], name: str, generation: dict[str, Any]) -> dict[str, Any]:
    """A league of one player, trained by such a crew."""
    trial = stack.start_trial({**spec, "generation": {**spec["generation"], **generation}}, name)
    return finish(stack, trial, GENERATIONS)


def _go_on(stack: ClusterStack, trial: str) -> dict[str, Any]:
    return finish(stack, trial, sum(commits(stack, trial).values()) + GENERATIONS)


def _start_build(stack: ClusterStack, build: str) -> Host:
    """A train worker of this build on a host of its own, once it polls."""
    host = stack.add_train_worker(
        f"train-{build}", LANISTA_TEMPORAL_DEPLOYMENT=DEPLOYMENT, LANISTA_TEMPORAL_BUILD_ID=build
    )
    until(lambda: _is_ready(host), f"the train worker of the build {build}")
    return host


def _wait_for_more(stack: ClusterStack, trial: str) -> None:
    """Until each learning player has three more generations."""
    wait_for_commits(stack, trial, max(commits(stack, trial).values()) + 3)


def _has_joined(stack: ClusterStack, host: Host) -> bool:
    return any(node["alive"] and node["host"] == host.name for node in stack.ray_nodes())


def _problem(stack: ClusterStack, host: Host) -> str:
    """Why the node of the host gets no work, as people see it."""
    return next((str(node["problem"]) for node in stack.ray_nodes() if node["host"] == host.name), "")


def _seconds(began: datetime, ended: datetime) -> float:
    return round((ended - began).total_seconds(), 1)


def _is_ready(train_worker: Host) -> bool:
    log = train_worker.folder / "worker-train.log"
    return log.exists() and "worker ready" in log.read_text(encoding="utf-8")
