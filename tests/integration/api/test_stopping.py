"""Stopping what has not begun: trials without a worker, and gates that wait."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from api.schemas.enums import GateStatus, Scope, TrialStatus
from api.store.tables import Gate, Trial
from api.web.temporal import messages as orders
from orchestrator.contracts.workflows import Status, trial_workflow_id
from tests.integration.api.league import readable_league
from tests.integration.api.server import PATIENCE, Served, running_api, running_store_worker, running_temporal
from tests.integration.api.test_trials import make


def test_a_trial_that_no_worker_takes_up_can_be_stopped(
    fresh_postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orders, "TIMEOUT_SECONDS", 0.5)
    with running_temporal() as address, running_api(fresh_postgres_url, address, tmp_path) as served:
        with served.client(Scope.OPERATOR) as operator:
            trial_id = make(operator)["id"]
            stopped = operator.post(f"/api/v1/trials/{trial_id}/stop", json={"reason": "a mistake"})
            assert (stopped.status_code, stopped.json()["status"]) == (200, "stopped")
            again = operator.post(f"/api/v1/trials/{trial_id}/stop")
            assert (again.status_code, again.json()["trial_status"]) == (409, "stopped")
        with running_store_worker(address, fresh_postgres_url, tmp_path):
            assert asyncio.run(result_of(address, trial_id)) is Status.STOPPED
        with served.sessions() as session:
            row = session.get_one(Trial, trial_id)
            assert (row.status, row.status_reason) == (TrialStatus.STOPPED, "a mistake")


def test_a_trial_whose_workflow_was_never_started_can_be_stopped(fresh_postgres_url: str, tmp_path: Path) -> None:
    with (
        running_api(fresh_postgres_url, "127.0.0.1:1", tmp_path) as served,
        served.client(Scope.OPERATOR) as operator,
    ):
        trial_id = make(operator)["id"]
        stopped = operator.post(f"/api/v1/trials/{trial_id}/stop")
        assert (stopped.status_code, stopped.json()["status"]) == (200, "stopped")


def test_a_waiting_gate_can_be_stopped(api: Served, operator: httpx.Client) -> None:
    readable = readable_league(api.sessions)
    with api.sessions.begin() as session:
        passed = session.get_one(Gate, readable.gate_id)
        same = ("project_id", "trial_id", "game", "candidate_version_id", "elo0", "elo1", "alpha", "beta")
        values = {name: getattr(passed, name) for name in (*same, "lower_bound", "upper_bound", "max_pairs", "seed")}
        waiting = Gate(**values, alias="contested", status=GateStatus.WAITING, pairs=0, pentanomial=[0] * 5, llr=0.0)
        session.add(waiting)
        session.flush()
        gate_id = waiting.id
    stopped = operator.post(f"/api/v1/gates/{gate_id}/stop", json={"reason": "not this one"})
    assert stopped.status_code == 200, stopped.text
    assert (stopped.json()["status"], stopped.json()["status_reason"]) == ("invalid", "not this one")
    late = operator.post(f"/api/v1/gates/{gate_id}/stop")
    assert (late.status_code, late.json()["gate_status"]) == (409, "invalid")


async def result_of(address: str, trial_id: str) -> Status:
    client = await Client.connect(address, data_converter=pydantic_data_converter)
    handle = client.get_workflow_handle(trial_workflow_id(trial_id), result_type=Status)
    return await asyncio.wait_for(handle.result(), PATIENCE)
