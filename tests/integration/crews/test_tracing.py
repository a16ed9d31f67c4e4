"""A traced generation on real Ray actors: their parts are in its trace, by processes without OpenTelemetry."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.contracts.generations import GenerationTask, Topology
from orchestrator.settings import TraceSettings
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.tracing import spans
from orchestrator.tracing.ids import generation_ref
from orchestrator.tracing.reading import RecordedSpan, read_spans
from orchestrator.tracing.setup import start_tracing
from tests.unit.training.generation_task import TASK
from workers.crews.generation import run_generation
from workers.crews.pool import CrewPool

pytestmark = pytest.mark.usefixtures("local_ray")

GENERATION = generation_ref("t", "p", 1)


def traced(task: GenerationTask, store: ArtifactStore, folder: Path, count: int = 1) -> list[RecordedSpan]:
    """The spans of the newest of these generations on one crew."""
    crews = CrewPool(store)
    start_tracing(TraceSettings(tracing="file", trace_folder=str(folder)), role="train-worker")
    try:
        with spans.closing():
            for _ in range(count):
                with spans.span("train_generation", parent=GENERATION):
                    run_generation(task, store=store, progress=lambda _: None, should_stop=lambda: False, crews=crews)
    finally:
        crews.close()
    found = sorted(read_spans(folder), key=lambda span: span.started)
    newest = [span for span in found if span.name == "train_generation"][-1]
    return [span for span in found if span.started >= newest.started]


def below(found: list[RecordedSpan], name: str) -> dict[str, RecordedSpan]:
    (above,) = [span for span in found if span.name == name]
    return {span.name: span for span in found if span.parent == above.id}


def test_the_parts_of_a_fused_crew_are_in_the_trace(store: ArtifactStore, tmp_path: Path) -> None:
    found = traced(replace(TASK, rollout_actors=2), store, tmp_path / "traces")
    assert {span.trace for span in found} == {GENERATION.trace_hex}
    assert {"get a crew", "crew"} <= below(found, "train_generation").keys()
    assert {"wait for CPUs", "reserve CPUs", "start actors"} <= below(found, "get a crew").keys()
    actors = below(found, "crew")
    assert actors.keys() == {"FusedActor 0", "FusedActor 1"}
    pids = {actor.attributes["process.pid"] for actor in actors.values()}
    assert len(pids) == 2 and os.getpid() not in pids
    parts = below(found, "FusedActor 0")
    assert {"load", "rollout", "update", "upload"} <= parts.keys()
    update, rollout = parts["update"], parts["rollout"]
    assert update.own("times") == rollout.own("times") >= 1
    assert 0 < update.own("busy_seconds") <= update.seconds + 0.01
    exchange = [span for span in found if span.name == "exchange" and span.parent == update.id]
    assert exchange and exchange[0].own("busy_seconds") <= update.own("busy_seconds")


def test_a_second_generation_on_a_warm_crew_has_times_of_its_own(store: ArtifactStore, tmp_path: Path) -> None:
    found = traced(TASK, store, tmp_path / "traces", count=2)
    got = below(found, "train_generation")["get a crew"]
    assert got.own("warm") is True
    assert "start actors" not in below(found, "get a crew")
    assert all(span.started >= got.started - 0.01 for span in found if span.name in ("load", "rollout", "upload"))


def test_a_split_crew_shows_both_kinds_of_actors(store: ArtifactStore, tmp_path: Path) -> None:
    found = traced(replace(TASK, topology=Topology.SPLIT), store, tmp_path / "traces")
    assert below(found, "crew").keys() == {"TrainerActor 0", "RolloutActor 0"}
    assert {"load", "weights", "rollout"} <= below(found, "RolloutActor 0").keys()
    assert {"load", "update", "weights", "upload"} <= below(found, "TrainerActor 0").keys()
