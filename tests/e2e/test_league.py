"""Leagues on the real stack: repeatable, fair, and whole after kills."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from temporalio.client import Client

import lanista
from lanista.client.local import find_api
from lanista.stack.control import reach
from orchestrator.contracts.workflows import player_workflow_id, trial_workflow_id
from tests.e2e.leagues import QUICK, SNAPSHOTS, finished, players, start, wait_until
from tests.e2e.stack import LocalStack

LEARNERS = ("main", "main-exploiter", "league-exploiter")
GENERATIONS = 5
"""What two equal trials are compared over: either may begin one more before its end reaches it."""


def generations(stack: LocalStack, trial: str) -> int:
    return sum(int(each["generation"]) for each in players(stack, trial).values())


def plans(stack: LocalStack, trial: str) -> list[Any]:
    """Whom each generation was to meet and how likely, with names in place of ids."""
    names = {each["id"]: name for name, each in players(stack, trial).items()}
    found = stack.call("GET", f"/trials/{trial}/decisions?kind=matchmaking&limit=200")["items"]
    return sorted(
        (
            decision["generation"],
            branch["branch"],
            [names[player] for player in branch["players"]],
            branch["probabilities"],
        )
        for decision in found
        if decision["generation"] <= GENERATIONS
        for branch in decision["evidence"]["branches"]
    )


def hashes(stack: LocalStack, trial: str) -> list[tuple[int, str]]:
    found = stack.call("GET", f"/trials/{trial}/versions?limit=200")["items"]
    names = {each["id"]: name for name, each in players(stack, trial).items()}
    return sorted(
        (v["number"], v["sha256"]) for v in found if names[v["player_id"]] == "main" and v["number"] <= GENERATIONS
    )


def test_the_same_file_and_seed_give_the_same_plans_and_hashes(stack: LocalStack) -> None:
    spec = {
        **QUICK,
        "league": {
            "preset": "pfsp",
            "players": [{"name": "main", "role": "main"}],
            "snapshot": SNAPSHOTS,
            "champion_gate": None,
        },
        "budget": {"steps": 18_000},
    }
    trials = [start(stack, spec), start(stack, spec)]
    wait_until(lambda: all(finished(stack, trial) for trial in trials))
    first, second = ((plans(stack, trial), hashes(stack, trial)) for trial in trials)
    assert len(first[1]) == GENERATIONS + 1, "the generations and the initial version"
    assert any("main-" in name or name != "main" for plan in first[0] for name in plan[2]), "snapshots were met"
    assert first == second
    other = start(stack, {**spec, "seed": 4})
    wait_until(lambda: finished(stack, other))
    assert not set(hashes(stack, other)) & set(first[1]), "another seed gives other weights"


def test_many_players_share_few_crews_fairly(stack: LocalStack) -> None:
    roster = [{"name": f"main-{n}", "role": "main"} for n in range(12)]
    rules = {"preset": "fictitious", "players": roster, "champion_gate": None}
    # long enough that the players wait for the crews, and not for what comes between two generations
    trial = start(stack, {**QUICK, "generation": {"steps": 24_000, "tables": 64}, "league": rules})
    wait_until(lambda: generations(stack, trial) >= 48, patience=240)
    done = sorted(int(each["generation"]) for each in players(stack, trial).values() if each["role"] == "main")
    stack.call("POST", f"/trials/{trial}/stop", {"mode": "now"})
    assert len(done) == 12
    # two ahead is 20 % after ten generations
    assert done[-1] - done[0] <= 2, f"generations of the players: {done}"
    wait_until(lambda: finished(stack, trial))


@pytest.mark.parametrize("victims", [["train-worker", "api"], ["store-worker", "postgres", "temporal", "ray"]])
def test_a_league_goes_on_after_kills(stack: LocalStack, victims: list[str]) -> None:
    trial = start(stack, alphastar())
    wait_until(lambda: generations(stack, trial) >= 3)
    stack.kill(*victims)
    before = generations(stack, trial)
    wait_until(lambda: generations(stack, trial) >= before + 3)
    stack.call("POST", f"/trials/{trial}/stop", {"mode": "drain"})
    wait_until(lambda: finished(stack, trial))
    assert_audit_agrees(stack)


def test_a_league_goes_on_after_everything_was_killed(stack: LocalStack) -> None:
    trial = start(stack, alphastar())
    wait_until(lambda: generations(stack, trial) >= 3)
    stack.kill_everything()
    assert stack.up().returncode == 0
    before = generations(stack, trial)
    wait_until(lambda: generations(stack, trial) >= before + 3)
    stack.call("POST", f"/trials/{trial}/stop", {"mode": "now"})
    wait_until(lambda: finished(stack, trial))
    assert_audit_agrees(stack)


def test_a_league_goes_on_after_its_workflows_were_terminated(stack: LocalStack) -> None:
    """By hand, in Temporal: first a player's, then the trial's and all of its players'."""
    trial = start(stack, alphastar())
    wait_until(lambda: generations(stack, trial) >= 3)
    learners = {name: each["id"] for name, each in players(stack, trial).items() if name in LEARNERS}
    assert len(learners) == len(LEARNERS)
    main = player_workflow_id(learners["main"])
    for lost in ([main], [trial_workflow_id(trial), *map(player_workflow_id, learners.values())]):
        asyncio.run(terminate(stack, lost))
        before = generations(stack, trial)
        wait_until(lambda before=before: generations(stack, trial) >= before + 4)  # type: ignore[misc]
    asyncio.run(terminate(stack, [main]))
    stack.call("POST", f"/trials/{trial}/stop", {"mode": "now"})
    restarts = []
    where = find_api(home=stack.home.root)
    with lanista.Client(where.url, where.token) as client:
        for event in client.events(trial, after=0):
            if event.type == "workflow.restarted":
                restarts.append(event.text)
            if event.type == "trial.status" and event.payload["to"] == "stopped":
                break
    assert any("player main was lost (terminated)" in sentence for sentence in restarts)
    assert any("of trial" in sentence for sentence in restarts)
    wait_until(lambda: finished(stack, trial))
    assert_audit_agrees(stack)


async def terminate(stack: LocalStack, workflows: list[str]) -> None:
    temporal = await Client.connect(reach(stack.home)["LANISTA_TEMPORAL_ADDRESS"])
    for workflow in workflows:
        await temporal.get_workflow_handle(workflow).terminate("by hand")


def test_a_damaged_checkpoint_is_rolled_back_visibly(stack: LocalStack) -> None:
    trial = start(stack, {**alphastar(), "start": "running"})
    wait_until(lambda: generations(stack, trial) >= 6)
    stack.call("POST", f"/trials/{trial}/pause")
    wait_until(lambda: stack.call("GET", f"/trials/{trial}")["status"] == "paused")
    main = players(stack, trial)["main"]
    version = stack.call("GET", f"/versions/{main['version_id']}")
    checkpoint = next(stack.home.artifacts.rglob(f"*{version['sha256']}*"))
    whole = checkpoint.read_bytes()
    os.truncate(checkpoint, 100)
    stack.kill("train-worker")  # a warm crew would never read the file
    stack.call("POST", f"/trials/{trial}/resume")
    wait_until(lambda: bool(stack.call("GET", f"/trials/{trial}/decisions?kind=rollback")["items"]))
    wait_until(lambda: players(stack, trial)["main"]["generation"] > main["generation"])
    stack.call("POST", f"/trials/{trial}/stop", {"mode": "now"})
    wait_until(lambda: finished(stack, trial))
    audit = stack.lanista("audit")
    assert audit.returncode == 1 and "damaged" in audit.stdout, "the audit names what is damaged"
    checkpoint.write_bytes(whole)
    assert_audit_agrees(stack)


def alphastar() -> dict[str, Any]:
    gate = {"test": "sprt", "elo0": 0, "elo1": 200, "max_pairs": 64}  # a drain waits for it
    return {**QUICK, "league": {"preset": "alphastar", "snapshot": SNAPSHOTS, "champion_gate": gate}}


def assert_audit_agrees(stack: LocalStack) -> None:
    audit = stack.lanista("audit")
    assert audit.returncode == 0, audit.stdout + audit.stderr
