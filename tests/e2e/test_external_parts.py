"""Parts of one's own: `up` starts only the rest, a wrong address is one clear error, and roles run alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest

from lanista.settings import StackSettings
from lanista.stack.control import reach
from lanista.stack.ports import unused_port
from lanista.stack.temporal_keys import TemporalKeys
from tests.e2e.stack import LocalStack

SERVERS = ("LANISTA_DATABASE_URL", "LANISTA_TEMPORAL_ADDRESS", "RAY_ADDRESS")


def servers_of(stack: LocalStack) -> dict[str, str]:
    """What a person would set to use this stack's servers: addresses, keys, and what its Ray wants of its drivers."""
    servers = {name: value for name, value in reach(stack.home).items() if name in SERVERS or name.startswith("RAY_")}
    return {**servers, **TemporalKeys(StackSettings(home=stack.home.root), stack.home).store_environment()}


@pytest.fixture
def second(stack: LocalStack, tmp_path: Path) -> Iterator[LocalStack]:
    other = LocalStack.at(tmp_path)
    other.extra = servers_of(stack)
    yield other
    other.down()


def test_up_starts_only_what_is_not_external(stack: LocalStack, second: LocalStack) -> None:
    started = second.up()
    assert started.returncode == 0, started.stdout + started.stderr
    status = second.status()
    started_here = {"store-worker", "train-worker", "gateway", "api", "tensorboard"}
    assert status["ready"] and set(status["children"]) == started_here
    assert not second.home.postgres.exists() and not second.home.temporal_db.exists()
    doctor = second.lanista("doctor")
    assert doctor.returncode == 0, doctor.stdout
    assert second.down().returncode == 0
    assert second.processes() == []
    stack.wait_until_whole()


def refused(alone: LocalStack) -> str:
    answer = alone.up()
    assert answer.returncode == 1 and "Traceback" not in answer.stderr
    assert alone.processes() == []
    return answer.stderr


def test_external_parts_that_do_not_answer_are_named_each_with_its_address(tmp_path: Path) -> None:
    alone = LocalStack.at(tmp_path)
    port = unused_port({alone.port})
    alone.extra = {
        "LANISTA_DATABASE_URL": f"postgresql://lanista:hush@127.0.0.1:{port}/lanista",
        "LANISTA_TEMPORAL_ADDRESS": f"127.0.0.1:{port}",
        "RAY_ADDRESS": f"127.0.0.1:{port}",
    }
    said = refused(alone)
    assert f"LANISTA_DATABASE_URL: Postgres at 127.0.0.1:{port}/lanista cannot be used" in said
    assert f"LANISTA_TEMPORAL_ADDRESS: Temporal at 127.0.0.1:{port} cannot be reached" in said
    assert f"RAY_ADDRESS: the Ray head at 127.0.0.1:{port} cannot be reached" in said
    assert "hush" not in said


def test_a_wrong_password_and_a_missing_namespace_are_named(stack: LocalStack, tmp_path: Path) -> None:
    alone = LocalStack.at(tmp_path)
    told = servers_of(stack)
    user, _, place = told["LANISTA_DATABASE_URL"].rpartition("@")
    alone.extra = {**told, "LANISTA_DATABASE_URL": f"{user}wrong@{place}", "LANISTA_TEMPORAL_NAMESPACE": "other"}
    said = refused(alone)
    assert "password authentication failed" in said and "LANISTA_TEMPORAL_NAMESPACE='other'" in said


@contextmanager
def role(folder: Path, environment: dict[str, str], *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """One role in the foreground, stopped as a cluster would stop it."""
    with (folder / f"{'-'.join(arguments)}.log").open("wb") as log:
        command = [sys.executable, "-m", "lanista", *arguments]
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        yield process
    except BaseException:
        process.kill()
        process.wait()
        raise
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=150) in (0, -signal.SIGTERM)  # uvicorn ends by the signal, after its work is done


def wait_for(text: str, path: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 150
    while text not in path.read_text():
        assert process.poll() is None and time.monotonic() < deadline, path.read_text()[-2000:]
        time.sleep(0.1)


def test_roles_run_alone_with_the_environment_only(stack: LocalStack, tmp_path: Path) -> None:
    port = unused_port()
    environment = {**stack.environment(), **servers_of(stack), "LANISTA_PORT": str(port), "LANISTA_TRACING": "off"}
    with (
        role(tmp_path, environment, "worker", "store") as store,
        role(tmp_path, environment, "worker", "train") as train,
        role(tmp_path, environment, "api") as api,
    ):
        wait_for("worker ready", tmp_path / "worker-store.log", store)
        wait_for("worker ready", tmp_path / "worker-train.log", train)
        wait_for("Uvicorn running", tmp_path / "api.log", api)
        deadline = time.monotonic() + 60
        while not (answer := httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=60)).is_success:
            assert time.monotonic() < deadline, answer.text
        assert set(answer.json()["parts"]) == {"postgres", "temporal", "ray"}
        pids = [process.pid for process in (store, train, api)]
    assert not [pid for pid in pids if psutil.pid_exists(pid)]
    for name, said in {"worker-store": "worker stopping", "worker-train": "worker stopping", "api": "Finished"}.items():
        assert said in (tmp_path / f"{name}.log").read_text(), f"{name} did not end in order"
    assert not (tmp_path / ".lanista").exists() or not os.listdir(tmp_path / ".lanista"), "a role keeps no state"
