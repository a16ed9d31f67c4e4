"""The local stack: up, down, status, doctor, and what it does when processes die."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

import httpx
import psutil
import psycopg
import pytest

from lanista.stack.remote import reach
from tests.e2e.stack import LocalStack

CHILDREN = ["postgres", "temporal", "ray", "store-worker", "train-worker", "api", "tensorboard"]


def remember(stack: LocalStack, word: str) -> None:
    with connect(stack) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS remembered (word text)")
        connection.execute("INSERT INTO remembered VALUES (%s)", (word,))


def remembered(stack: LocalStack) -> set[str]:
    with connect(stack) as connection:
        return {row[0] for row in connection.execute("SELECT word FROM remembered")}


def connect(stack: LocalStack) -> psycopg.Connection:
    return psycopg.connect(reach(stack.home)["LANISTA_DATABASE_URL"].replace("+psycopg", ""))


def test_status_shows_every_part_ready(stack: LocalStack) -> None:
    status = stack.status()
    assert status["running"] and status["ready"]
    assert {name: child["state"] for name, child in status["children"].items()} == dict.fromkeys(CHILDREN, "ready")


def test_up_twice_says_where_the_first_runs(stack: LocalStack) -> None:
    for arguments in (["up"], ["up", "--detach"]):
        second = stack.lanista(*arguments)
        assert second.returncode == 0
        assert stack.page in second.stdout and "runs already" in second.stdout


def test_doctor_finds_every_part_well(stack: LocalStack) -> None:
    answer = stack.lanista("doctor")
    assert answer.returncode == 0, answer.stdout
    for part in ("postgres", "temporal", "store worker", "train worker", "ray", "api", "tensorboard", "disk", "memory"):
        assert part in answer.stdout
    assert "2 CPUs" in answer.stdout or "CPUs" in answer.stdout


def test_demo_goes_through_every_queue(stack: LocalStack) -> None:
    answer = stack.lanista("demo", "--exit")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    for queue in ("store", "train", "play", "interactive"):
        assert queue in answer.stdout
    assert stack.page in answer.stdout
    assert stack.status()["ready"], "a demonstration on a stack that ran before must leave it running"


def test_page_and_root_endpoints_answer(stack: LocalStack) -> None:
    with httpx.Client(base_url=stack.page) as client:
        assert "Lanista" in client.get("/").text
        assert client.get("/healthz").json()["status"] == "ok"
        parts = client.get("/readyz").json()["parts"]
        assert {name: part["ok"] for name, part in parts.items()} == {"postgres": True, "temporal": True, "ray": True}
        assert "lanista_http_requests_total" in client.get("/metrics").text
        assert client.get("/openapi.json").json()["info"]["title"] == "Lanista"
        link = client.get("/api/v1/system").json()["links"]["tensorboard"]
    assert "TensorBoard" in httpx.get(link).text


def test_servers_listen_on_loopback_only(stack: LocalStack) -> None:
    listening = {
        (process.name(), connection.laddr.ip)
        for process in stack.processes()
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }
    ours = {name for name, _ in listening}
    assert any("postgres" in name for name in ours) and any("temporal" in name for name in ours)
    outside = {entry for entry in listening if entry[1] not in ("127.0.0.1", "::1", "::ffff:127.0.0.1")}
    assert not outside


def test_secrets_are_private_and_not_in_arguments(stack: LocalStack) -> None:
    for name in ("postgres.password", "ray.token", "run/environment.json", "stack.json"):
        assert (stack.home.root / name).stat().st_mode & 0o077 == 0, name
    password = (stack.home.root / "postgres.password").read_text()
    assert not [process for process in stack.processes() if any(password in part for part in process.cmdline())]
    logs = "".join(path.read_text(errors="replace") for path in stack.home.logs.iterdir())
    assert password not in logs


@pytest.mark.parametrize("child", CHILDREN)
def test_a_killed_child_comes_back_by_itself(stack: LocalStack, child: str) -> None:
    remember(stack, child)
    before = stack.pid(child)
    stack.kill(child)
    stack.wait_until_whole(newer_than={child: before})
    assert child in remembered(stack)
    assert f"{child}: died of SIGKILL" in stack.home.log_file("supervisor").read_text()


def test_a_killed_ray_takes_the_train_worker_along(stack: LocalStack) -> None:
    before = {"ray": stack.pid("ray"), "train-worker": stack.pid("train-worker")}
    stack.kill("ray")
    stack.wait_until_whole(newer_than=before)
    assert stack.lanista("demo", "--exit").returncode == 0


def test_a_port_in_use_is_named_with_the_flag(stack: LocalStack, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = LocalStack.at(tmp_path_factory.mktemp("other"))
    with socket.socket() as server:
        server.bind(("127.0.0.1", other.port))
        server.listen()
        refused = other.lanista("up", "--port", str(other.port))
    assert refused.returncode == 1
    assert str(other.port) in refused.stderr and "--port" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not other.processes()


def test_supervisor_alone_killed_then_up(stack: LocalStack) -> None:
    remember(stack, "supervisor")
    stack.kill("supervisor")
    absent = stack.lanista("status")
    assert absent.returncode == 1 and "lanista up" in absent.stdout
    assert stack.up().returncode == 0
    stack.wait_until_whole()
    assert "supervisor" in remembered(stack)


def test_everything_killed_at_once_then_up(stack: LocalStack) -> None:
    remember(stack, "everything")
    stack.kill("supervisor")
    for process in stack.processes():
        process.send_signal(signal.SIGKILL)
    assert stack.up().returncode == 0
    stack.wait_until_whole()
    assert "everything" in remembered(stack)


def test_down_leaves_no_process(stack: LocalStack) -> None:
    assert stack.processes()
    assert stack.down().returncode == 0
    assert [process.cmdline() for process in stack.processes()] == []
    assert stack.status()["running"] is False
    again = stack.down()
    assert again.returncode == 0 and "Nothing runs" in again.stdout


def test_ctrl_c_leaves_no_process(stack: LocalStack) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "lanista", "up", "--port", str(stack.port)],
        cwd=stack.folder,
        env=stack.environment(),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    stack.wait_until_whole()
    assert "everything" in remembered(stack), "data survives down and up"
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert "stopped" in said
    assert process.returncode == 0
    assert [left.cmdline() for left in stack.processes()] == []


def test_a_child_that_keeps_dying_is_shown_with_its_log(stack: LocalStack) -> None:
    """A Temporal database that is no database: the server cannot start, and status says so."""
    database = stack.home.temporal_db
    kept = database.with_suffix(".kept")
    database.rename(kept)
    database.write_text("this is not a database, " * 100)
    process = subprocess.Popen(
        [sys.executable, "-m", "lanista", "up", "--port", str(stack.port)],
        cwd=stack.folder,
        env=stack.environment(),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 60
        while "keeps dying" not in (shown := stack.lanista("status").stdout):
            assert time.monotonic() < deadline, shown
            time.sleep(0.5)
        assert "temporal keeps dying" in shown
        assert "not a database" in shown.split("temporal keeps dying")[1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
        database.unlink()
        kept.rename(database)
