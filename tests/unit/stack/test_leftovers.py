"""Processes that a supervisor left behind: found by their mark, ended, and nobody else's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lanista.stack.home import Home
from lanista.stack.logs import rotate_log
from lanista.stack.processes.leftovers import MARK, end_leftovers, leftovers

SLEEPER = "import sys, time; print('up', flush=True); time.sleep(60)"
TIDY = """
import pathlib, signal, sys, time
def close(*_):
    pathlib.Path({0!r}).touch()
    sys.exit(0)
signal.signal(signal.SIGTERM, close)
signal.signal(signal.SIGINT, close)
print("up", flush=True)
time.sleep(60)
"""
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEPER}"


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def start(
    started: list[subprocess.Popen[str]], program: str, mark: str, python: str = sys.executable
) -> subprocess.Popen[str]:
    command = [python, "-c", program]
    process = subprocess.Popen(command, env={**os.environ, MARK: mark}, stdout=subprocess.PIPE, text=True)
    started.append(process)
    assert process.stdout is not None and process.stdout.readline() == "up\n"
    return process


def test_only_processes_of_this_folder_are_found_and_ended(
    tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    home = Home(tmp_path / "mine")
    ours = [start(started, program, str(home.root)) for program in (SLEEPER, STUBBORN)]
    other = start(started, SLEEPER, str(tmp_path / "mine-too"))
    assert {process.pid for process in leftovers(home)} == {process.pid for process in ours}
    assert end_leftovers(home, patience=2.0) == 2
    assert leftovers(home) == []
    assert psutil.pid_exists(other.pid) and other.poll() is None


def test_a_new_start_kills_at_once_and_lets_only_postgres_close_its_files(
    tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    home = Home(tmp_path / "mine")
    postgres = tmp_path / "postgres"
    postgres.symlink_to(sys.executable)
    start(started, TIDY.format(str(tmp_path / "worker-closed")), str(home.root))
    start(started, TIDY.format(str(tmp_path / "database-closed")), str(home.root), python=str(postgres))
    assert end_leftovers(home, patience=60.0, at_once=True) == 2
    assert leftovers(home) == []
    assert (tmp_path / "database-closed").exists() and not (tmp_path / "worker-closed").exists()


def test_nothing_left_is_nothing_ended(tmp_path: Path) -> None:
    assert end_leftovers(Home(tmp_path)) == 0


def test_a_long_log_is_cut_while_its_writer_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "part.log"
    with path.open("ab") as writer:
        writer.write(b"old " * 100)
        writer.flush()
        rotate_log(path, limit=100)
        writer.write(b"new")
        writer.flush()
    assert path.read_bytes() == b"new"
    assert (tmp_path / "part.log.1").read_bytes() == b"old " * 100
    rotate_log(path, limit=100)
    assert path.read_bytes() == b"new", "a short log stays"


def test_a_log_that_cannot_be_copied_stays(tmp_path: Path) -> None:
    path = tmp_path / "part.log"
    path.write_text("x" * 200)
    (tmp_path / "part.log.1").mkdir()
    rotate_log(path, limit=100)
    rotate_log(tmp_path / "missing.log", limit=100)
    assert path.read_text() == "x" * 200
