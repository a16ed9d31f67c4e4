"""The data folder: private, locked by one supervisor, its files never half written."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanista.stack.errors import StackError
from lanista.stack.home import LONGEST_SOCKET_FOLDER, ChildState, Home, StackState, write_atomically

HOLD_LOCK = """
import sys
from pathlib import Path
from lanista.stack.home import Home
lock = Home(Path(sys.argv[1])).try_lock()
print("locked" if lock else "refused", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "home")
    made.create()
    yield made
    shutil.rmtree(made.scratch, ignore_errors=True)


def hold_lock(home: Home) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLD_LOCK, str(home.root)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdout.readline() == "locked\n"
    return holder


def end(holder: subprocess.Popen[str]) -> None:
    holder.kill()
    holder.communicate()


def test_folders_are_private(home: Home) -> None:
    for folder in (home.root, home.logs, home.run, home.artifacts, home.scratch):
        assert folder.stat().st_mode & 0o077 == 0, folder


def test_one_process_holds_the_lock_and_is_known(home: Home) -> None:
    assert not home.is_supervised() and home.supervisor() is None
    holder = hold_lock(home)
    try:
        assert home.is_supervised()
        assert home.try_lock(patience=0) is None
        supervisor = home.supervisor()
        assert supervisor is not None and supervisor.pid == holder.pid
    finally:
        end(holder)
    assert not home.is_supervised() and home.supervisor() is None


def test_asking_does_not_keep_a_supervisor_from_starting(home: Home) -> None:
    probe = home._lock(fcntl.LOCK_SH)
    assert probe is not None and not home.is_supervised(), "two who ask must not see each other"
    assert home.try_lock(patience=0) is None
    probe.close()
    lock = home.try_lock()
    assert lock is not None
    lock.close()


def test_a_state_of_an_earlier_run_is_not_taken_for_the_present_one(home: Home) -> None:
    state = StackState(pid=1, page="http://old", started="then", ready=True)
    write_atomically(home.state_file, state.to_json())
    assert home.read_state() == state and home.live_state() is None
    holder = hold_lock(home)
    try:
        assert home.live_state() is None
        state.pid = holder.pid
        write_atomically(home.state_file, state.to_json())
        assert home.live_state() == state
    finally:
        end(holder)


def test_state_survives_the_way_through_the_file(home: Home) -> None:
    child = ChildState(state="ready", pid=7, restarts=2, last_exit="died of SIGKILL", address="a:1")
    state = StackState(pid=5, page="p", started="s", children={"api": child}, links={"x": "y"})
    assert StackState.from_json(state.to_json()) == state


@pytest.mark.parametrize("damaged", ["", "{", "[]", "{}", '{"children": 3}', '{"children": {}, "unknown": 1}'])
def test_a_damaged_state_is_no_state(home: Home, damaged: str) -> None:
    home.state_file.write_text(damaged)
    assert home.read_state() is None


def test_secrets_are_made_once_and_private(home: Home) -> None:
    secret = home.secret("some.token")
    assert len(secret) > 30 and home.secret("some.token") == secret
    assert (home.root / "some.token").stat().st_mode & 0o777 == 0o600


def test_a_folder_that_cannot_be_is_refused_with_the_option(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StackError, match=r"file/x cannot be used: .*--home \(or LANISTA_HOME\)"):
        Home(tmp_path / "file" / "x").create()


def test_the_scratch_folder_is_short_however_long_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(str(Home(tmp_path / ("x" * 200)).scratch)) <= LONGEST_SOCKET_FOLDER
    monkeypatch.setattr("tempfile.tempdir", "/" + "t" * 90)
    assert len(str(Home(tmp_path).scratch)) <= LONGEST_SOCKET_FOLDER


def test_a_scratch_folder_that_others_may_write_is_refused(home: Home) -> None:
    home.scratch.chmod(0o777)
    with pytest.raises(StackError, match="belongs to another user"):
        home.create()
    home.scratch.chmod(0o700)


def test_a_scratch_folder_that_is_a_link_is_refused(home: Home, tmp_path: Path) -> None:
    home.scratch.rmdir()
    home.scratch.symlink_to(tmp_path)
    try:
        with pytest.raises(StackError, match="belongs to another user"):
            home.create()
    finally:
        home.scratch.unlink()


def test_last_log_lines(home: Home) -> None:
    assert home.last_log_lines("api") == []
    home.log_file("api").write_text("".join(f"line {i}\n" for i in range(5_000)))
    assert home.last_log_lines("api", 2) == ["line 4998", "line 4999"]


def test_a_failed_write_leaves_the_old_text(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    path = home.root / "file"
    write_atomically(path, "old")

    def full(_: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
