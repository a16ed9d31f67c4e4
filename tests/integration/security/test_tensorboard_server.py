"""TensorBoard's own server: a socket that only its user can open, no port, and nothing written outside."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

NOBODY = 65534


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    folder = tmp_path_factory.mktemp("charts")
    writer = EventFileWriter(str(folder / "main"))
    writer.add_event(Event(step=1, summary=Summary(value=[Summary.Value(tag="loss", simple_value=1.0)])))
    writer.close()
    place = Path(tempfile.mkdtemp(prefix="tb-")) / "s"  # a short path: sockets allow no long ones
    command = [sys.executable, "-m", "lanista.stack.tensorboard_server", str(folder), f"unix:{place}"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not place.exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    yield process, place
    process.terminate()
    process.wait()


def test_it_serves_tensorboard_and_opens_no_port(served: tuple[subprocess.Popen[bytes], Path]) -> None:
    process, place = served
    before = psutil.Process(process.pid).memory_info().rss
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(place)), timeout=60) as client:
        assert client.get("http://tensorboard/data/runs").json() == ["main"], "the first request knows the runs"
        assert "<title>TensorBoard" in client.get("http://tensorboard/").text
    # it was loaded by this request: nobody pays for charts that nobody looks at
    assert psutil.Process(process.pid).memory_info().rss > before + 10_000_000
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    assert [each.net_connections(kind="inet") for each in family] == [[]]
    assert not (Path(tempfile.gettempdir()) / ".tensorboard-info" / f"pid-{process.pid}.info").exists()


def test_only_its_user_can_open_the_socket(served: tuple[subprocess.Popen[bytes], Path]) -> None:
    place = served[1]
    assert stat.S_IMODE(place.stat().st_mode) & 0o077 == 0
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    place.parent.chmod(0o755)  # the folder would protect it too; this is about the socket
    child = os.fork()
    if child == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(place))
        except PermissionError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_charts_that_nobody_looks_at_are_given_up(tmp_path: Path) -> None:
    place = Path(tempfile.mkdtemp(prefix="tb-")) / "s"
    program = "from lanista.stack import tensorboard_server as server; import sys; server.IDLE_SECONDS = 1.0; "
    program += f"sys.argv[1:] = {[str(tmp_path), f'unix:{place}']!r}; server.main(*sys.argv[1:])"
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: "<title>TensorBoard" in asked(place))
        loaded = psutil.Process(process.pid).memory_info().rss
        wait_for(lambda: psutil.Process(process.pid).memory_info().rss < loaded - 10_000_000)
        wait_for(lambda: "<title>TensorBoard" in asked(place))
    finally:
        process.terminate()
        process.wait()


def asked(place: Path) -> str:
    """TensorBoard's page; empty where nothing answers."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(str(place))
            connection.sendall(b"GET / HTTP/1.0\r\nHost: tensorboard\r\n\r\n")
            return b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        except OSError:
            return ""


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)
