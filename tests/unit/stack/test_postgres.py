"""What the embedded Postgres does with what a killed one left behind. Starting it for real is the e2e tests' part."""

from __future__ import annotations

import os
import socketserver
import stat
import struct
import threading
from pathlib import Path

import pytest

from lanista.stack import postgres as module
from lanista.stack.errors import StackError, StillStarting
from lanista.stack.home import Home
from lanista.stack.postgres import EmbeddedPostgres, Owner, open_path_for_search


@pytest.fixture
def postgres(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EmbeddedPostgres:
    monkeypatch.setattr(module, "owner", lambda: None)
    made = EmbeddedPostgres(Home(tmp_path), port=5432)
    made.data.mkdir()
    return made


class Recovering(socketserver.BaseRequestHandler):
    """Answers as a Postgres does that replays its log: no encryption, no session."""

    def handle(self) -> None:
        while header := self.request.recv(8):
            length, code = struct.unpack("!II", header)
            if code in (80877103, 80877104):  # asks for TLS or GSS
                self.request.sendall(b"N")
                continue
            self.request.recv(length - 8)
            fields = b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"
            self.request.sendall(b"E" + struct.pack("!I", len(fields) + 4) + fields)
            return


def test_a_server_that_recovers_is_on_its_way(postgres: EmbeddedPostgres) -> None:
    with socketserver.TCPServer(("127.0.0.1", 0), Recovering) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        postgres.port = server.server_address[1]
        with pytest.raises(StillStarting):
            postgres.is_ready()
        server.shutdown()
    assert postgres.is_ready() is False, "nobody is there"


def write_pid_file(postgres: EmbeddedPostgres, pid: int, memory: int = 0) -> Path:
    path = postgres.data / "postmaster.pid"
    path.write_text(f"{pid}\n{postgres.data}\n0\n5432\n\n127.0.0.1\n  12345  {memory}\nready\n")
    return path


def test_a_pid_file_whose_process_is_gone_is_left_to_postgres(postgres: EmbeddedPostgres) -> None:
    """Postgres needs it to see whether sessions of the killed server still live."""
    path = write_pid_file(postgres, pid=2**22 + 1)
    postgres.prepare()
    assert path.exists()


def test_a_pid_file_whose_number_a_stranger_has_is_removed(postgres: EmbeddedPostgres) -> None:
    path = write_pid_file(postgres, pid=os.getpid())
    postgres.prepare()
    assert not path.exists()


def test_a_strangers_number_with_memory_in_use_is_not_touched(
    postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_pid_file(postgres, pid=os.getpid())
    monkeypatch.setattr(module, "_memory_in_use", lambda lines: True)
    with pytest.raises(StackError, match="sessions of a killed Postgres"):
        postgres.prepare()
    assert path.exists()


@pytest.mark.parametrize("damaged", ["", "x\n", "\n\n"])
def test_a_damaged_pid_file_is_left_to_postgres(postgres: EmbeddedPostgres, damaged: str) -> None:
    path = postgres.data / "postmaster.pid"
    path.write_text(damaged)
    postgres.prepare()
    assert path.read_text() == damaged


def test_the_password_is_neither_in_the_command_nor_guessable(postgres: EmbeddedPostgres) -> None:
    password = (postgres.home.root / "postgres.password").read_text()
    assert password in postgres.url()
    assert not [argument for argument in postgres.command() if password in argument]


def test_search_permission_is_added_and_nothing_more(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    open_path_for_search(closed / "data", Owner(uid=2**16 - 3, gid=2**16 - 3))
    assert stat.S_IMODE(closed.stat().st_mode) == 0o701


def test_a_folder_of_the_users_own_stays_as_it_is(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    open_path_for_search(closed / "data", Owner(uid=os.getuid(), gid=os.getgid()))
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700
