"""A traced, sealed league on a real Temporal server: traces hang together, and histories replay without tracing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import SecretStr
from temporalio.client import Client
from temporalio.worker import Replayer

from api.worker import WORKFLOWS, sandbox
from orchestrator.contracts.workflows import Status, player_workflow_id
from orchestrator.sealing import KeyRing, sealed_options
from orchestrator.settings import TemporalSettings, TraceSettings
from orchestrator.tracing import spans
from orchestrator.tracing.generations import generation_traces
from orchestrator.tracing.ids import SpanRef, generation_ref
from orchestrator.tracing.reading import RecordedSpan, read_spans
from orchestrator.tracing.setup import start_tracing
from orchestrator.tracing.temporal_calls import TraceInterceptor
from tests.integration.security.sealed_league import (
    LEAGUE_SECRET,
    TRAIN_SECRET,
    Keys,
    address_of,
    fresh,
    serve_sealed,
    start_trial,
)
from tests.integration.temporal import local_temporal
from tests.integration.workflows.fake_league import FakeLeague


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def temporal() -> AsyncIterator[Client]:
    async with await local_temporal() as environment:
        yield environment.client


def ring() -> KeyRing:
    settings = TemporalSettings(temporal_key=SecretStr(LEAGUE_SECRET), temporal_train_key=SecretStr(TRAIN_SECRET))
    return KeyRing.from_settings(settings)


@pytest.mark.asyncio(loop_scope="module")
async def test_generations_are_traces_that_link_to_the_request(temporal: Client, tmp_path: Path) -> None:
    league = fresh(FakeLeague(budget_steps=270))  # in two runs of the player's workflow
    start_tracing(TraceSettings(tracing="file", trace_folder=str(tmp_path)), role="all")
    with spans.closing():
        async with serve_sealed(address_of(temporal), league, Keys()) as client:
            with spans.span("POST /api/v1/trials"):
                request = spans.current()
                handle = await start_trial(client, league)
            assert await handle.result() is Status.COMPLETED
    assert request is not None
    written = list(read_spans(tmp_path))
    _check_request(written, request)
    player = league.learners[0].player
    begun = generation_traces(written)
    found = [each for each in begun if any(span.name == "record_generation" for span in each.spans)]
    assert len(begun) <= len(found) + 1  # the last one may be broken off, since the budget is used up
    assert [each.generation for each in found] == [generation for _, generation in league.recorded]
    for each in found:
        assert each.trace == generation_ref(league.trial, player, each.generation).trace_hex
        assert each.ended and each.links == [request.trace_hex]
        below = defaultdict(list)
        for depth, span in each.walk():
            below[depth].append(span.name)
        assert below[0] == ["generation"]
        assert {"plan_generation", "train_generation", "record_generation", "judge_generation"} <= set(below[1])
    await _replays(client, player_workflow_id(player), handle.id)


def _check_request(written: list[RecordedSpan], request: SpanRef) -> None:
    """The trace of the request holds the trial's start, also in the train worker, and nothing of what comes later."""
    names = [span.name for span in written if span.trace == request.trace_hex]
    assert sorted(names) == sorted(
        ["POST /api/v1/trials", "start TrialWorkflow", "begin_trial", "make_initial_weights", "enter_players"]
    )


async def _replays(client: Client, *workflows: str) -> None:
    """Histories of traced runs replay, traced or not, and a replay writes no span."""
    sealed = sealed_options(ring(), namespace="default", serves=True)
    for interceptors in ([*sealed["interceptors"]], [*sealed["interceptors"], TraceInterceptor()]):
        replayer = Replayer(
            workflows=WORKFLOWS,
            workflow_runner=sandbox(),
            data_converter=sealed["data_converter"],
            interceptors=interceptors,
            namespace="default",
        )
        for workflow_id in workflows:
            await replayer.replay_workflow(await client.get_workflow_handle(workflow_id).fetch_history())


@pytest.mark.asyncio(loop_scope="module")
async def test_a_league_that_began_untraced_is_traced_and_replays_write_nothing(
    temporal: Client, tmp_path: Path
) -> None:
    league = fresh(FakeLeague(budget_steps=50))
    async with serve_sealed(address_of(temporal), league, Keys()) as client:
        handle = await start_trial(client, league)
        assert await handle.result() is Status.COMPLETED
    start_tracing(TraceSettings(tracing="file", trace_folder=str(tmp_path)), role="all")
    with spans.closing():
        await _replays(client, player_workflow_id(league.learners[0].player), handle.id)
    assert list(read_spans(tmp_path)) == []
