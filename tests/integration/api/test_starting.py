"""A recorded trial always gets exactly one workflow, whatever dies in between."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import httpx
from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from api.store.core.engine import create_store_engine, session_factory
from api.store.core.ids import new_id
from api.store.tables import Trial
from api.store.trials.create import create_trial
from api.web.temporal.start_workflows import TRIALS, WorkflowStarter
from orchestrator.contracts.workflow_labels import TRIAL
from orchestrator.contracts.workflows import trial_workflow_id
from orchestrator.search_attributes import register_search_attributes
from orchestrator.spec import TrialSpec
from tests.integration.api.server import Served
from tests.integration.api.test_trials import make, until

SPEC = TrialSpec.model_validate({"game": {"id": "tic_tac_toe"}, "start": "paused"})


async def starter_for(sessions: sessionmaker[Session], address: str) -> tuple[WorkflowStarter, Client]:
    client = await Client.connect(address, data_converter=pydantic_data_converter, lazy=True)
    return WorkflowStarter(TRIALS, sessions, client), client


async def runs_of(client: Client, trial_id: str) -> int:
    """How many runs the trial's workflow has had. The list is not immediately complete."""
    query = f'WorkflowId = "{trial_workflow_id(trial_id)}"'
    for _ in range(1200):
        if runs := [run async for run in client.list_workflows(query)]:
            return len(runs)
        await asyncio.sleep(0.05)
    return 0


async def test_what_a_dead_api_left_behind_is_started_once(api: Served) -> None:
    with api.sessions.begin() as session:
        ids = [create_trial(session, project="left", name=new_id(), spec=SPEC).id for _ in range(3)]
    starter, client = await starter_for(api.sessions, api.temporal_address)
    assert await starter.reconcile() >= 3
    assert await starter.reconcile() == 0
    for trial_id in ids:
        assert await starter.start(trial_id), "to start it again is harmless"
        assert await runs_of(client, trial_id) == 1
    with api.sessions() as session:
        started = session.scalars(select(Trial.workflow_started_at).where(Trial.id.in_(ids))).all()
    assert None not in started


async def test_a_trial_and_its_workflow_have_the_same_name(api: Served) -> None:
    client = await Client.connect(api.temporal_address, data_converter=pydantic_data_converter)
    await register_search_attributes(client)
    name = new_id()
    with api.sessions.begin() as session:
        trial_id = create_trial(session, project="named", name=name, spec=SPEC).id
    starter, _ = await starter_for(api.sessions, api.temporal_address)
    assert await starter.start(trial_id)
    described = await client.get_workflow_handle(trial_workflow_id(trial_id)).describe()
    assert await described.memo() == {"project": "named", "trial": name, "trial_id": trial_id}
    assert described.typed_search_attributes[TRIAL] == name
    assert await described.static_summary() == f"named/{name}"


async def test_a_workflow_that_was_started_but_not_noted_is_found(api: Served) -> None:
    with api.sessions.begin() as session:
        trial_id = create_trial(session, project="left", name=new_id(), spec=SPEC).id
    starter, client = await starter_for(api.sessions, api.temporal_address)
    assert await starter.start(trial_id)
    with api.sessions.begin() as session:
        session.get_one(Trial, trial_id).workflow_started_at = None
    assert await starter.reconcile() == 1
    assert await runs_of(client, trial_id) == 1


async def test_without_temporal_a_trial_is_recorded_and_waits(fresh_postgres_url: str, tmp_path: Path) -> None:
    engine = create_store_engine(fresh_postgres_url)
    sessions = session_factory(engine)
    with sessions.begin() as session:
        trial_id = create_trial(session, project="p", name="n", spec=SPEC).id
    starter, _ = await starter_for(sessions, "127.0.0.1:1")
    assert await starter.start(trial_id) is False
    with sessions() as session:
        assert session.get_one(Trial, trial_id).workflow_started_at is None
    engine.dispose()


def test_a_trial_made_over_http_is_marked_as_started(api: Served, operator: httpx.Client) -> None:
    trial_id = make(operator)["id"]

    def marked() -> bool:
        with api.sessions() as session:
            return session.get_one(Trial, trial_id).workflow_started_at is not None

    until(marked)


def test_metrics_hold_those_of_the_temporal_sdk(operator: httpx.Client) -> None:
    make(operator)
    text = operator.get("/metrics").text
    assert 'lanista_http_requests_total{method="POST",route="/api/v1/trials",status="201"}' in text
    started = re.search(r'temporal_request_total{[^}]*operation="StartWorkflowExecution"[^}]*} (\S+)', text)
    assert started is not None and float(started[1]) >= 1
