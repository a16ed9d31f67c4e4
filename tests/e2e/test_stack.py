"""The local stack: up, down, status, doctor, and what it does when processes die."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx
import psutil
import psycopg
import pytest

from lanista.stack.control import reach
from tests.e2e import leagues
from tests.e2e.stack import LocalStack

CHILDREN = ["postgres", "temporal", "ray", "store-worker", "train-worker", "gateway", "api", "tensorboard"]


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
        assert stack.page in second.stdout and "is running already" in second.stdout


def test_doctor_finds_every_part_well(stack: LocalStack) -> None:
    answer = stack.lanista("doctor")
    if "no answer within" in answer.stdout:  # a starved machine: it is asked once more
        answer = stack.lanista("doctor")
    assert answer.returncode == 0, answer.stdout
    for part in ("postgres", "temporal", "store worker", "train worker", "ray", "api", "tensorboard", "disk", "memory"):
        assert part in answer.stdout
    assert "CPUs" in answer.stdout and "PostgreSQL 18" in answer.stdout and "GB free" in answer.stdout


def test_demo_goes_through_every_queue(stack: LocalStack) -> None:
    answer = stack.lanista("demo", "--exit", "--minutes", "0.1", timeout=600)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    for queue in ("store", "train", "play", "interactive"):
        assert queue in answer.stdout
    assert stack.page in answer.stdout
    assert "Your own game, in three commands" in answer.stdout and "trial start my-game/trial.yaml" in answer.stdout
    assert stack.status()["ready"], "a demonstration on a stack that ran before must leave it running"


def test_page_and_root_endpoints_answer(stack: LocalStack) -> None:
    with httpx.Client(base_url=stack.page, timeout=60) as client:
        assert "Lanista" in client.get("/").text
        assert client.get("/healthz").json()["status"] == "ok"
        parts = client.get("/readyz").json()["parts"]
        assert {name: part["ok"] for name, part in parts.items()} == {"postgres": True, "temporal": True, "ray": True}
        assert "lanista_http_requests_total" in client.get("/metrics").text
        assert client.get("/openapi.json").json()["info"]["title"] == "Lanista"
        signed_in = {"Authorization": f"Bearer {stack.home.admin_token.read_text()}"}
        link = client.get("/api/v1/system", headers=signed_in).json()["links"]["tensorboard"]
    assert "TensorBoard" in httpx.get(link, timeout=60).text


def ports_of(process: psutil.Process) -> set[tuple[str, str]]:
    with suppress(psutil.NoSuchProcess):  # Ray ends its idle workers at any time
        found = process.net_connections(kind="inet")
        return {(process.name(), each.laddr.ip) for each in found if each.status == psutil.CONN_LISTEN}
    return set()


def arguments_of(process: psutil.Process) -> list[str]:
    with suppress(psutil.NoSuchProcess):
        return list(process.cmdline())
    return []


def test_servers_listen_on_loopback_only(stack: LocalStack) -> None:
    listening = {entry for process in stack.processes() for entry in ports_of(process)}
    ours = {name for name, _ in listening}
    assert any("postgres" in name for name in ours) and any("temporal" in name for name in ours)
    outside = {entry for entry in listening if entry[1] not in ("127.0.0.1", "::1", "::ffff:127.0.0.1")}
    assert not outside


def test_secrets_are_private_and_not_in_arguments(stack: LocalStack) -> None:
    readable = [
        path
        for path in stack.home.root.rglob("*")
        if path.is_file() and path.parent.stat().st_mode & 0o005 and path.stat().st_mode & 0o077
    ]
    assert readable == [], "under root others may pass through the data folder, but read nothing in it"
    password = (stack.home.root / "postgres.password").read_text()
    assert not [process for process in stack.processes() if any(password in part for part in arguments_of(process))]
    logs = "".join(path.read_text(errors="replace") for path in stack.home.logs.iterdir())
    assert password not in logs


@pytest.mark.parametrize(
    "children", [["postgres"], ["temporal"], ["store-worker", "tensorboard"], ["api", "train-worker"]]
)
def test_a_killed_child_comes_back_by_itself(stack: LocalStack, children: list[str]) -> None:
    remember(stack, children[0])
    before = {child: stack.pid(child) for child in children}
    stack.kill(*children)
    stack.wait_until_whole(newer_than=before)
    assert children[0] in remembered(stack)
    said = stack.home.log_file("supervisor").read_text()
    assert all(f"{child}: died of SIGKILL" in said for child in children)


def test_a_killed_ray_takes_the_train_worker_along(stack: LocalStack) -> None:
    before = {"ray": stack.pid("ray"), "train-worker": stack.pid("train-worker")}
    stack.kill("ray")
    stack.wait_until_whole(newer_than=before)
    # a generation needs actors, which the doctor's tasks do not
    trial = leagues.start(stack, leagues.QUICK)
    leagues.wait_until(lambda: stack.call("GET", f"/trials/{trial}")["steps"] > 0)
    stack.call("POST", f"/trials/{trial}/stop", {"mode": "now"})
    leagues.wait_until(lambda: leagues.finished(stack, trial))


def test_a_port_in_use_is_named_with_the_flag(stack: LocalStack, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = LocalStack.at(tmp_path_factory.mktemp("other"))
    with socket.socket() as server:
        server.bind(("127.0.0.1", other.port))
        server.listen()
        refused = other.lanista("up", "--port", str(other.port))
    assert refused.returncode == 1
    assert str(other.port) in refused.stderr and "--port" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not other.processes() and not other.home.scratch.exists()


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
    stack.kill_everything()
    assert stack.up().returncode == 0
    stack.wait_until_whole()
    assert "everything" in remembered(stack)


def test_down_is_polite_and_leaves_no_process(stack: LocalStack) -> None:
    assert stack.processes()
    supervisor = stack.pid("supervisor")
    assert stack.down().returncode == 0
    assert not psutil.pid_exists(supervisor) or psutil.Process(supervisor).status() == psutil.STATUS_ZOMBIE
    assert [process.cmdline() for process in stack.processes()] == []
    assert not stack.home.scratch.exists()
    assert any(line.endswith("database system is shut down") for line in stack.home.last_log_lines("postgres", 5))
    assert "worker stopping" in stack.home.log_file("store-worker").read_text()
    status = stack.status()
    assert status["running"] is False and status["ready"] is False
    again = stack.down()
    assert again.returncode == 0 and "No stack runs" in again.stdout


def foreground(stack: LocalStack, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "lanista", "up", "--port", str(stack.port), *arguments],
        cwd=stack.folder,
        env=stack.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def test_two_ups_at_once_make_one_stack_and_ctrl_c_leaves_no_process(stack: LocalStack) -> None:
    remember(stack, "before down")
    stack.down()
    first = foreground(stack)
    second = stack.up()
    assert second.returncode == 0, second.stderr
    stack.wait_until_whole()
    assert "before down" in remembered(stack), "data survives down and up"
    running = first if first.poll() is None else None
    if running is None:  # the second came first: the one in the foreground said so and left
        said, _ = first.communicate()
        assert "is running already" in said or "starting" in said
        os.kill(stack.pid("supervisor"), signal.SIGINT)
        wait_for_end(stack)
    else:
        os.killpg(running.pid, signal.SIGINT)
        said, _ = running.communicate(timeout=150)
        assert "stopped" in said and running.returncode == 0
    assert [left.cmdline() for left in stack.processes()] == []


def wait_for_end(stack: LocalStack) -> None:
    deadline = time.monotonic() + 150
    while stack.home.is_supervised():
        assert time.monotonic() < deadline, "the supervisor does not end"
        time.sleep(0.1)


def test_down_while_starting(rested: LocalStack) -> None:
    stack = rested
    starting = foreground(stack, "--detach")
    deadline = time.monotonic() + 150
    while not stack.home.is_supervised():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert stack.down().stdout == "Stopped.\n"
    said, _ = starting.communicate(timeout=150)
    assert starting.returncode == 1 and "did not start" in said
    assert stack.processes() == []


@contextmanager
def broken_temporal(stack: LocalStack) -> Iterator[None]:
    """A Temporal database that is no database: the server cannot start."""
    database = stack.home.temporal_db
    kept = database.with_suffix(".kept")
    database.rename(kept)
    database.write_text("this is not a database, " * 100)
    try:
        yield
    finally:
        stack.down()
        database.unlink()
        kept.rename(database)


def test_a_child_that_keeps_dying_is_shown_with_its_log(rested: LocalStack) -> None:
    stack = rested
    with broken_temporal(stack):
        process = foreground(stack)
        deadline = time.monotonic() + 150
        while "keeps failing" not in (shown := stack.lanista("status").stdout):
            assert time.monotonic() < deadline, shown
            time.sleep(1)
        assert "not a database" in shown.split("temporal keeps failing")[1]
        assert stack.lanista("status").returncode == 1
        waiting = stack.up()
        assert waiting.returncode == 1 and "temporal keeps failing" in waiting.stderr
        assert process.poll() is None, "what another `up` started stays"
        process.send_signal(signal.SIGTERM)
        assert "temporal: ended with exit code" in process.communicate(timeout=150)[0]


def test_up_behind_gives_up_on_a_child_that_keeps_dying_and_cleans_up(rested: LocalStack) -> None:
    stack = rested
    with broken_temporal(stack):
        refused = stack.up()
        assert refused.returncode == 1
        assert "temporal keeps failing" in refused.stderr and "not a database" in refused.stderr
        assert stack.processes() == [] and not stack.home.is_supervised()
