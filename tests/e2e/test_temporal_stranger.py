"""Another user of the machine, with Temporal's own command line, reaches the stack's Temporal and can run nothing."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
import uuid
from pathlib import Path

import psutil
import pytest

from lanista.stack.control import reach
from tests.e2e.stack import LocalStack

COMPONENT = {"kind": "game", "component": {"id": "subprocess:Popen", "options": {"args": ["true"]}}}


def as_nobody(stack: LocalStack, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Temporal's command line, as the user nobody where these tests run as root."""
    tool = Path(sys.executable).with_name("temporal").resolve()
    address = reach(stack.home)["LANISTA_TEMPORAL_ADDRESS"]
    return subprocess.run(
        [str(tool), *arguments, "--address", address, "--output", "json"],
        user="nobody" if os.geteuid() == 0 else None,
        env={"HOME": "/nonexistent", "PATH": os.environ["PATH"]},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("queue", ["interactive", "train", "store"])
def test_an_activity_is_refused(stack: LocalStack, queue: str) -> None:
    name = {"interactive": "check_component", "train": "check_train", "store": "begin_trial"}[queue]
    message = json.dumps(COMPONENT if queue == "interactive" else {"check": "1", "trial": "1"})
    answer = as_nobody(
        stack,
        *("activity", "execute", "--activity-id", uuid.uuid4().hex, "--type", name, "--task-queue", queue),
        *("--input", message, "--start-to-close-timeout", "60s"),
    )
    assert answer.returncode != 0
    assert "because it has no stamp" in answer.stdout + answer.stderr


def test_a_workflow_is_refused(stack: LocalStack) -> None:
    answer = as_nobody(
        stack,
        *("workflow", "execute", "--workflow-id", uuid.uuid4().hex, "--type", "SystemCheckWorkflow"),
        *("--task-queue", "league", "--input", '{"check": "1"}'),
    )
    assert answer.returncode != 0
    assert "because it has no stamp" in answer.stdout + answer.stderr


def test_no_port_of_temporal_answers_a_browser(stack: LocalStack) -> None:
    """Its HTTP API is on a port that it chooses; a browser's Host header is refused on each."""
    state = stack.home.read_state()
    assert state is not None and state.children["temporal"].pid is not None
    ports = {
        each.laddr.port for each in psutil.Process(state.children["temporal"].pid).net_connections() if not each.raddr
    }
    assert len(ports) > 1
    answers = {port: _get(f"http://127.0.0.1:{port}/api/v1/namespaces") for port in ports}
    assert 403 in answers.values(), "the HTTP API"
    assert 200 not in answers.values()


def _get(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except (OSError, http.client.HTTPException):  # a port that speaks gRPC
        return 0
