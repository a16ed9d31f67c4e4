"""Logs: JSON in files, pretty on a terminal, with trial, player and generation on every line that has them."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import structlog
from temporalio import activity
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from orchestrator.logs import LogContextInterceptor, configure_logs, context_of, log_context
from orchestrator.settings import LogSettings, TraceSettings
from orchestrator.tracing import spans
from orchestrator.tracing.setup import start_tracing


@dataclass(frozen=True)
class Generation:
    trial: str
    player: str
    generation: int
    steps: int = 5


GENERATION = Generation(trial="t-1", player="main", generation=7)


class Terminal(io.StringIO):
    """What pretty logs are for."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def restore() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    return configured(monkeypatch, io.StringIO())


def configured(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, **settings: str) -> io.StringIO:
    monkeypatch.setattr(sys, "stderr", stream)
    configure_logs(LogSettings(**settings), role="test")
    return stream


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_in_a_file_is_json_with_the_context(stream: io.StringIO) -> None:
    with log_context(GENERATION):
        structlog.get_logger("a.module").info("trained", steps=3)
    (line,) = lines(stream)
    assert {
        key: line[key] for key in ("trial", "player", "generation", "event", "steps", "level", "role", "logger")
    } == {
        "trial": "t-1",
        "player": "main",
        "generation": 7,
        "event": "trained",
        "steps": 3,
        "level": "info",
        "role": "test",
        "logger": "a.module",
    }
    assert line["timestamp"].endswith("Z")


def test_libraries_that_use_the_standard_logging_get_the_same_form_and_context(stream: io.StringIO) -> None:
    with log_context(GENERATION):
        logging.getLogger("some.library").warning("%s of %s", 1, 2)
    (line,) = lines(stream)
    assert (line["event"], line["level"], line["trial"], line["role"]) == ("1 of 2", "warning", "t-1", "test")


def test_the_context_ends_with_its_block(stream: io.StringIO) -> None:
    with log_context(GENERATION):
        pass
    structlog.get_logger().info("outside")
    assert "trial" not in lines(stream)[0]


def test_an_exception_is_one_line_of_json(stream: io.StringIO) -> None:
    try:
        raise ValueError("of all things")
    except ValueError:
        structlog.get_logger().exception("failed")
    (line,) = lines(stream)
    assert "ValueError: of all things" in line["exception"]


def test_a_terminal_gets_words_and_not_json(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = configured(monkeypatch, Terminal())
    with log_context(GENERATION):
        structlog.get_logger().info("trained")
    text = stream.getvalue()
    assert "trained" in text and "main" in text and not text.startswith("{")


@pytest.mark.parametrize(("form", "is_json"), [("json", True), ("pretty", False)])
def test_the_form_can_be_chosen(form: str, is_json: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = configured(monkeypatch, Terminal() if is_json else io.StringIO(), log_format=form)
    structlog.get_logger().info("hello")
    assert stream.getvalue().startswith("{") is is_json


def test_lines_below_the_level_are_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = configured(monkeypatch, io.StringIO(), log_level="warning")
    structlog.get_logger().info("quiet")
    logging.getLogger("x").info("quiet")
    structlog.get_logger().warning("loud")
    assert [line["event"] for line in lines(stream)] == ["loud"]


def test_only_context_fields_of_a_message_are_taken() -> None:
    assert context_of(GENERATION) == {"trial": "t-1", "player": "main", "generation": 7}
    assert context_of("no message") == {}


class Innermost(ActivityInboundInterceptor):
    """Runs the activity as Temporal's own innermost link does: an async one here, a plain one in a thread."""

    def __init__(self) -> None:
        pass

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        if asyncio.iscoroutinefunction(input.fn):
            return await input.fn(*input.args)
        import contextvars

        with ThreadPoolExecutor(1) as threads:
            run = contextvars.copy_context().run
            return await asyncio.get_running_loop().run_in_executor(threads, run, input.fn, *input.args)


def in_a_thread(message: Generation) -> None:
    structlog.get_logger().info("plain")


async def in_the_loop(message: Generation) -> None:
    structlog.get_logger().info("async")


@pytest.mark.parametrize("function", [in_a_thread, in_the_loop])
async def test_every_line_of_an_activity_carries_its_messages_context(stream: io.StringIO, function: Any) -> None:
    link = LogContextInterceptor().intercept_activity(Innermost())
    call = ExecuteActivityInput(fn=function, args=[GENERATION], executor=None, headers={})

    @activity.defn
    async def train() -> None:
        await link.execute_activity(call)

    environment = ActivityEnvironment()
    await environment.run(train)
    (line,) = lines(stream)
    assert (line["trial"], line["player"], line["generation"]) == ("t-1", "main", 7)
    assert line["activity"] == environment.info.activity_type


def test_lines_inside_a_span_have_its_ids(stream: io.StringIO, tmp_path: Path) -> None:
    start_tracing(TraceSettings(tracing="file", trace_folder=str(tmp_path)), role="test")
    with spans.closing():
        structlog.get_logger().info("before")
        with spans.span("work"):
            structlog.get_logger().info("inside")
            logging.getLogger("other").warning("of a library")
            inside = spans.current()
    assert inside is not None
    before, own, other = lines(stream)
    assert "trace_id" not in before
    for line in (own, other):
        assert (line["trace_id"], line["span_id"]) == (inside.trace_hex, inside.span_hex)
