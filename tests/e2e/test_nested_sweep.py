"""Three levels on the real stack: a sweep of trials, each with a population, to its end and cancelled from the top."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from temporalio.client import Client, WorkflowExecutionStatus

from lanista.stack.control import reach
from orchestrator.contracts.sweeps import sweep_workflow_id
from orchestrator.contracts.workflows import player_workflow_id, trial_workflow_id
from tests.e2e.leagues import players, wait_until
from tests.e2e.stack import LocalStack
from tests.e2e.test_league import assert_audit_agrees

STEPS = 1_024
POPULATION = {
    "size": 2,
    "every_generations": 1,
    "exploit": {"by": "return"},
    "explore": {"learning_rate": {"initial": [1e-4, 1e-2], "perturb": [0.8, 1.25]}},
}
TRIAL: dict[str, Any] = {
    "game": {"id": "gymnasium", "env": "CartPole-v1"},
    "model": {"id": "mlp", "hidden": [16]},
    "league": {
        "preset": "self_play",
        "champion_gate": None,
        "players": [{"name": "main", "population": POPULATION}],
        "snapshot": {"min_steps": 10**9, "max_steps": 10**9},
    },
    "generation": {"steps": STEPS, "tables": 16},
    "evaluation": {"every_generations": 1_000},
}


def start_sweep(stack: LocalStack, budget: int, **options: Any) -> str:
    spec = {
        "trial": TRIAL,
        "space": {"algorithm.epochs": {"int": [1, 4]}},
        "parallel": 2,
        "budget": {"steps": budget},
        **options,
    }
    body = {"project": "nested", "name": f"sweep-{uuid.uuid4().hex[:8]}", "spec": spec}
    return str(stack.call("POST", "/sweeps", body)["id"])


def trials_of(stack: LocalStack, sweep: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = stack.call("GET", f"/sweeps/{sweep}/trials")["items"]
    return found


def copies_decided(stack: LocalStack, trial: str) -> int:
    return len(stack.call("GET", f"/trials/{trial}/decisions?kind=population")["items"])


def ended(stack: LocalStack, sweep: str) -> bool:
    found = stack.call("GET", f"/sweeps/{sweep}")
    assert found["status"] != "failed", found["status_reason"]
    return found["status"] in ("completed", "stopped")


async def statuses(stack: LocalStack, workflows: list[str]) -> set[WorkflowExecutionStatus | None]:
    temporal = await Client.connect(reach(stack.home)["LANISTA_TEMPORAL_ADDRESS"])
    return {(await temporal.get_workflow_handle(each).describe()).status for each in workflows}


async def cancel(stack: LocalStack, workflow: str) -> None:
    temporal = await Client.connect(reach(stack.home)["LANISTA_TEMPORAL_ADDRESS"])
    await temporal.get_workflow_handle(workflow).cancel()


def workflows_below(stack: LocalStack, sweep: str) -> list[str]:
    trials = [each["trial_id"] for each in trials_of(stack, sweep)]
    members = [each["id"] for trial in trials for each in players(stack, trial).values()]
    return [*map(trial_workflow_id, trials), *map(player_workflow_id, members)]


def test_a_sweep_of_populations_ends_and_every_decision_is_recorded(stack: LocalStack) -> None:
    sweep = start_sweep(stack, 4 * STEPS, trials=3, rungs={"eta": 2, "first": 2 * STEPS})
    wait_until(lambda: ended(stack, sweep))
    found = stack.call("GET", f"/sweeps/{sweep}")
    assert (found["status"], found["trials_ended"]) == ("completed", 3)
    trials = trials_of(stack, sweep)
    assert found["best_trial_id"] in [each["trial_id"] for each in trials]
    for trial in trials:
        members = players(stack, trial["trial_id"])
        assert sorted(members) == ["main.1", "main.2"]
        assert trial["rungs"][0]["verdict"] in ("go_on", "stop")
        assert trial["steps"] <= (4 + len(members)) * STEPS, "at most a generation of each learner above the budget"
    assert copies_decided(stack, found["best_trial_id"]) >= 1, "its population compared its members"
    assert_audit_agrees(stack)


def test_a_cancelled_sweep_takes_its_trials_and_their_populations_with_it(stack: LocalStack) -> None:
    sweep = start_sweep(stack, 10_000_000, trials=4, method="random")
    wait_until(lambda: [each["steps"] > 0 for each in trials_of(stack, sweep)] == [True, True])
    below = workflows_below(stack, sweep)
    assert len(below) == 2 + 4, "two trials with two members each"
    asyncio.run(cancel(stack, sweep_workflow_id(sweep)))
    wait_until(lambda: ended(stack, sweep))
    assert stack.call("GET", f"/sweeps/{sweep}")["status"] == "stopped"
    assert [each["status"] for each in trials_of(stack, sweep)] == ["stopped"] * 2, "and no further trial started"

    def all_closed() -> bool:
        return WorkflowExecutionStatus.RUNNING not in asyncio.run(statuses(stack, below))

    wait_until(all_closed)
    assert_audit_agrees(stack)
