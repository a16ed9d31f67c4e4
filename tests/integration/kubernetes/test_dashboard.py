"""The dashboard's panels ask for metrics that the parts really export."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import urllib.request
from datetime import timedelta

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.service import RPCError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from api.web.middleware.request_metrics import HttpMetrics
from orchestrator.sdk_metrics import SdkMetrics, serving_runtime
from tests.integration.kubernetes.manifests import ROOT
from tests.integration.temporal import local_temporal
from workers.gateway.metrics import GatewayMetrics, prometheus_text

BOARD = json.loads((ROOT / "deploy" / "grafana" / "lanista.json").read_text())
QUERIES = [target["expr"] for panel in BOARD["panels"] for target in panel["targets"]]
METRIC = re.compile(r"\b(?:temporal|lanista|process)_[a-z_]+")


@activity.defn
async def fail_once() -> None:
    if activity.info().attempt == 1:
        raise RuntimeError("the first attempt fails")


@workflow.defn
class CountedWorkflow:
    def __init__(self) -> None:
        self._tasks = 0

    @workflow.run
    async def run(self) -> None:
        retry = RetryPolicy(initial_interval=timedelta(milliseconds=10))
        await workflow.execute_activity(fail_once, start_to_close_timeout=timedelta(seconds=10), retry_policy=retry)
        self._tasks += 1
        if self._tasks == 1 and not workflow.unsafe.is_replaying():
            raise RuntimeError("a workflow task fails, and is tried again")


def samples(text: str) -> set[str]:
    """The names of all samples, and of histograms without any the names that they would have."""
    names: set[str] = set()
    for family in text_string_to_metric_families(text):
        names.update(sample.name for sample in family.samples)
    return names


async def sdk_samples() -> tuple[set[str], set[str]]:
    """Samples of a worker that ran a workflow and a failing activity, and of a client as the API has one."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        here = f"127.0.0.1:{found.getsockname()[1]}"
    registry = HttpMetrics().registry
    of_client = SdkMetrics(registry)
    async with await local_temporal() as environment:
        address = environment.client.service_client.config.target_host
        # not by `connect`: its clients start Lanista's own workflows only, sealed
        serving = await Client.connect(address, runtime=serving_runtime(here, "LANISTA_TRAIN_METRICS_ADDRESS"))
        client = await Client.connect(address, runtime=of_client.runtime)
        with pytest.raises(RPCError):
            await client.get_workflow_handle("missing").describe()
        worker = Worker(
            serving,
            task_queue="train",
            workflows=[CountedWorkflow],
            activities=[fail_once],
            workflow_runner=UnsandboxedWorkflowRunner(),
        )
        async with worker:
            handle = await client.start_workflow(CountedWorkflow.run, id="counted", task_queue="train")
            await asyncio.wait_for(_until_failed_task(here), 30)
            await handle.terminate()
            text = await asyncio.to_thread(_read, here)
    return samples(text), samples(generate_latest(registry).decode())


async def _until_failed_task(address: str) -> None:
    while "temporal_workflow_task_execution_failed_total" not in await asyncio.to_thread(_read, address):
        await asyncio.sleep(0.2)


def _read(address: str) -> str:
    text: str = urllib.request.urlopen(f"http://{address}/metrics").read().decode()
    return text


async def test_every_metric_of_a_panel_is_exported() -> None:
    http = HttpMetrics()
    http.requests.labels("GET", "/", "200").inc()
    http.seconds.labels("GET", "/").observe(0.1)
    gateway = GatewayMetrics()
    gateway.requests["http"] += 1
    gateway.abort("silent")
    of_worker, of_client = await sdk_samples()
    exported = samples(generate_latest(http.registry).decode()) | of_worker | of_client
    exported |= samples(prometheus_text({0: gateway.snapshot()}))
    asked = {name for query in QUERIES for name in METRIC.findall(query)}
    assert len(asked) > 10
    assert asked <= exported, asked - exported


def test_panels_are_laid_out_and_explained() -> None:
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in BOARD["panels"]]
    assert len(set(places)) == len(places)
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(places)
    for panel in BOARD["panels"]:
        assert panel["description"].endswith("."), panel["title"]
        assert all('namespace="$namespace"' in target["expr"] for target in panel["targets"])
