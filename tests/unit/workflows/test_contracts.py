"""Every activity a workflow can call exists once, on its queue, with the message and result that its stub names."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest
from sqlalchemy import create_engine
from temporalio import activity

import orchestrator.contracts
from api.activities import store_activities
from orchestrator.contracts import ActivityStub, Queue, interactive
from orchestrator.contracts.generations import record_generation
from orchestrator.contracts.interactive import Question
from orchestrator.contracts.play import stop_gate
from orchestrator.contracts.queues import before_all
from orchestrator.contracts.sweeps import change_sweep, end_sweep
from orchestrator.contracts.trials import (
    StatusChange,
    add_player,
    begin_trial,
    change_player,
    change_status,
    enter_players,
)
from orchestrator.storage.artifacts import ArtifactStore
from workers.cluster.node_survey import NodeSurveyor
from workers.cluster.ray_view import RayView
from workers.cluster.survey import ClusterSurvey
from workers.cluster.watch import ClusterWatch
from workers.settings import WorkerSettings
from workers.worker import train_activities


def stubs() -> dict[str, ActivityStub[Any, Any]]:
    package = orchestrator.contracts
    modules = [
        importlib.import_module(f"{package.__name__}.{info.name}") for info in pkgutil.iter_modules(package.__path__)
    ]
    found = {
        id(value): value for module in modules for value in vars(module).values() if isinstance(value, ActivityStub)
    }
    asked = {id(value): value for value in vars(interactive).values() if isinstance(value, Question)}
    found |= {key: as_stub(question) for key, question in asked.items()}
    names = Counter(stub.name for stub in found.values())
    assert not [name for name, count in names.items() if count > 1], "two stubs must not share a name"
    return {stub.name: stub for stub in found.values()}


def as_stub(question: Question[Any, Any]) -> ActivityStub[Any, Any]:
    """What the API asks by itself is an activity like any other to the worker that answers."""
    return ActivityStub(
        name=question.name,
        queue=Queue.INTERACTIVE,
        message=question.message,
        result=question.answer,
        start_to_close=question.time_limit,
    )


@pytest.fixture(scope="module")
def registered(tmp_path_factory: pytest.TempPathFactory) -> dict[Queue, list[Callable[..., Any]]]:
    """What the two worker processes register, queue by queue. Nothing here touches a server."""
    artifacts = tmp_path_factory.mktemp("artifacts")
    engine = create_engine("postgresql+psycopg://nobody@localhost/nowhere")
    kept = ArtifactStore(str(artifacts))
    settings = WorkerSettings(artifacts=str(artifacts), tensorboard_dir=str(artifacts))
    watch = ClusterWatch(RayView(kept))
    served = train_activities(settings, kept, watch, ClusterSurvey(watch, NodeSurveyor(kept)))
    store = store_activities(engine, kept)
    return {Queue.STORE: store, **{queue: activities for queue, (_, activities) in served.items()}}


def name_of(function: Callable[..., Any]) -> str:
    definition = activity._Definition.from_callable(function)
    assert definition is not None and definition.name, f"{function} is no activity"
    return definition.name


def test_every_stub_has_exactly_one_implementation_on_its_queue(
    registered: dict[Queue, list[Callable[..., Any]]],
) -> None:
    served = Counter((name_of(function), queue) for queue, functions in registered.items() for function in functions)
    called = Counter((stub.name, stub.queue) for stub in stubs().values())
    assert served == called


def test_every_implementation_takes_and_gives_what_its_stub_says(
    registered: dict[Queue, list[Callable[..., Any]]],
) -> None:
    known = stubs()
    differing = {}
    for function in (function for functions in registered.values() for function in functions):
        hints = get_type_hints(function)
        result = hints.pop("return")
        stub = known[name_of(function)]
        if (list(hints.values()), result) != ([stub.message], stub.result):
            differing[stub.name] = (hints, result)
    assert differing == {}


def test_no_activity_is_without_a_limit_of_time() -> None:
    for stub in stubs().values():
        assert stub.start_to_close.total_seconds() > 0
        assert stub.heartbeat is None or stub.heartbeat < stub.start_to_close


def test_orders_are_served_before_the_transactions_of_players() -> None:
    orders = (begin_trial, enter_players, change_status, add_player, change_player, stop_gate, change_sweep, end_sweep)
    assert {stub.name for stub in stubs().values() if stub.urgency is before_all} == {stub.name for stub in orders}
    assert change_status._priority(StatusChange(trial="t", status="stopping", reason="")).priority_key == 1
    assert record_generation.urgency is None
