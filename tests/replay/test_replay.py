"""Histories recorded from earlier runs must replay with today's workflows, or a running league breaks on upgrade."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner
from temporalio.workflow import NondeterminismError

from api.worker import WORKFLOWS, sandbox
from orchestrator.contracts.generations import GenerationKey, judge_generation, plan_generation
from orchestrator.contracts.workflows import PlayerState

FOLDER = Path(__file__).with_name("histories")
HISTORIES = sorted(FOLDER.rglob("*.json"))
"""All of them; a folder is named for the change that its histories were recorded before or with."""


def load(path: Path) -> WorkflowHistory:
    return WorkflowHistory.from_json(path.stem, path.read_text())


def workflow_type(path: Path) -> str:
    first = json.loads(path.read_text())["events"][0]
    return str(first["workflowExecutionStartedEventAttributes"]["workflowType"]["name"])


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: str(path.relative_to(FOLDER).with_suffix("")))
async def test_recorded_history_replays(path: Path) -> None:
    replayer = Replayer(workflows=WORKFLOWS, workflow_runner=sandbox(), data_converter=pydantic_data_converter)
    await replayer.replay_workflow(load(path))


@pytest.mark.parametrize("kind", ["PlayerWorkflow", "TrialWorkflow", "GateWorkflow", "TournamentWorkflow"])
async def test_a_suggestion_that_an_earlier_release_ignored_is_ignored_again(kind: str) -> None:
    """The server's suggestion to continue as new is in histories of runs that did not ask for it."""
    replayer = Replayer(workflows=WORKFLOWS, workflow_runner=sandbox(), data_converter=pydantic_data_converter)
    recorded = [path for path in HISTORIES if workflow_type(path) == kind]
    for path in recorded:
        history = json.loads(path.read_text())
        for event in history["events"]:
            if "workflowTaskStartedEventAttributes" in event:
                event["workflowTaskStartedEventAttributes"]["suggestContinueAsNew"] = True
        await replayer.replay_workflow(WorkflowHistory.from_json(path.stem, json.dumps(history)))
    assert recorded


def test_every_workflow_has_a_recorded_history() -> None:
    assert {workflow_type(path) for path in HISTORIES} == {each.__name__ for each in WORKFLOWS}


@workflow.defn(name="PlayerWorkflow")
class ChangedPlayerWorkflow:
    """A player that judges before it trains: what a careless edit could make of it."""

    @workflow.run
    async def run(self, state: PlayerState) -> None:
        key = GenerationKey(trial=state.trial, player=state.player, generation=1)
        await plan_generation(key)
        await judge_generation(key)

    @workflow.signal
    def set_mode(self, mode: str) -> None:
        """Accepted as by the real one."""


async def test_a_changed_workflow_is_caught() -> None:
    recorded = next(path for path in HISTORIES if workflow_type(path) == "PlayerWorkflow")
    replayer = Replayer(
        workflows=[ChangedPlayerWorkflow],
        workflow_runner=UnsandboxedWorkflowRunner(),
        data_converter=pydantic_data_converter,
    )
    with pytest.raises(NondeterminismError):
        await replayer.replay_workflow(load(recorded))
