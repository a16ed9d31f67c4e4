"""The Temporal SDK's metrics: in the API's registry, and at an address of a worker's own."""

from __future__ import annotations

import asyncio
import socket
import urllib.request
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from temporalio.worker import Worker

from api.settings import StoreSettings
from api.worker import WORKFLOWS, sandbox
from orchestrator.contracts import Queue
from orchestrator.sdk_metrics import SdkMetrics, serving_runtime
from orchestrator.settings import SettingsError, TemporalSettings
from orchestrator.temporal import connect
from tests.integration.temporal import local_temporal


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def address() -> AsyncIterator[str]:
    async with await local_temporal() as environment:
        yield environment.client.service_client.config.target_host


def free_address() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{found.getsockname()[1]}"


def values(text: str, sample: str) -> dict[str, float]:
    """The values of a sample by operation."""
    families = text_string_to_metric_families(text)
    found = [each for family in families for each in family.samples if each.name == sample]
    return {each.labels.get("operation", each.labels.get("worker_type", "")): each.value for each in found}


async def test_requests_are_counted_in_a_registry(address: str) -> None:
    registry = CollectorRegistry()
    metrics = SdkMetrics(registry)
    client = await connect(TemporalSettings(temporal_address=address), runtime=metrics.runtime)
    for _ in range(3):
        await client.count_workflows()
    draining = asyncio.create_task(metrics.run())
    await asyncio.sleep(0.1)
    text = generate_latest(registry).decode()
    assert values(text, "temporal_request_total")["CountWorkflowExecutions"] == 3
    assert values(text, "temporal_request_latency_count")["CountWorkflowExecutions"] == 3
    assert 0 < values(text, "temporal_request_latency_sum")["CountWorkflowExecutions"] < 60, "seconds"
    again = generate_latest(registry).decode()
    assert values(again, "temporal_request_total")["CountWorkflowExecutions"] == 3, (
        "counters go on, they do not restart"
    )
    draining.cancel()
    with pytest.raises(asyncio.CancelledError):
        await draining
    assert "temporal_request" not in generate_latest(registry).decode(), "a stopped API exports nothing"


async def test_a_worker_serves_them_at_its_address(address: str) -> None:
    here = free_address()
    client = await connect(
        TemporalSettings(temporal_address=address), runtime=serving_runtime(here, "LANISTA_STORE_METRICS_ADDRESS")
    )
    async with Worker(client, task_queue=Queue.LEAGUE, workflows=WORKFLOWS, workflow_runner=sandbox()):
        await asyncio.sleep(0.5)
        text = await asyncio.to_thread(lambda: urllib.request.urlopen(f"http://{here}/metrics").read().decode())
    assert values(text, "temporal_worker_task_slots_available")["WorkflowWorker"] > 0
    with pytest.raises(SettingsError, match=r"LANISTA_STORE_METRICS_ADDRESS='127.0.0.1:.*in use"):
        serving_runtime(here, "LANISTA_STORE_METRICS_ADDRESS")


def test_an_address_is_an_ip_address_and_a_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANISTA_STORE_METRICS_ADDRESS", "metrics.example:9101")
    with pytest.raises(SettingsError, match=r"LANISTA_STORE_METRICS_ADDRESS"):
        StoreSettings.load()
