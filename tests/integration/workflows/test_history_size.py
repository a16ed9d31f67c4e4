"""A plan is in a player's history twice, as a result and as training's argument, and an outcome's tallies twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from temporalio.client import Client

from orchestrator.contracts.workflows import Status, player_workflow_id
from tests.integration.workflows.fake_league import FakeLeague


async def test_plans_and_tallies_are_not_repeated(begin: Callable, temporal: Client) -> None:
    league = FakeLeague(budget_steps=10)
    async with begin(league) as handle:
        assert await handle.result() is Status.COMPLETED
        history = await temporal.get_workflow_handle(player_workflow_id(league.learners[0].player)).fetch_history()
    plans, tallies = Counter[str](), Counter[str]()
    for event in history.events:
        for kind, found in (
            ("argument", event.activity_task_scheduled_event_attributes.input.payloads),
            ("result", event.activity_task_completed_event_attributes.result.payloads),
        ):
            plans[kind] += sum(b'"opponents":[' in payload.data for payload in found)
            tallies[kind] += sum(b'"tallies":[{' in payload.data for payload in found)
    assert plans["argument"] == league.calls["train_generation"]
    assert plans["result"] == league.calls["plan_generation"]
    assert tallies == {"result": len(league.recorded), "argument": len(league.recorded)}
