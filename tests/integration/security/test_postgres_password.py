"""A server that is not ours asks for the database's password, and does not get it."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from api.store.core.engine import create_store_engine, database_url
from api.store.core.errors import OperationalError
from api.store.core.migrate import current
from api.web.live.feed import EventFeed
from lanista.stack.external import check_external
from lanista.stack.home import Home
from lanista.stack.postgres import EmbeddedPostgres

PASSWORD = "the-secret-of-the-database"
CLEAR, MD5, NONE = 3, 5, 0
Fake = tuple[int, list[bytes]]


@contextmanager
def fake_postgres(asks_for: int) -> Iterator[Fake]:
    """Listens like Postgres, asks for a password as it likes, and keeps what it is told."""
    told: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    line, _ = listening.accept()
                    with line, suppress(OSError, struct.error):
                        line.settimeout(10)
                        _startup(line)
                        salt = b"salt" if asks_for == MD5 else b""
                        line.sendall(b"R" + struct.pack("!II", 8 + len(salt), asks_for) + salt)
                        told.append(line.recv(1000))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield listening.getsockname()[1], told
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def _startup(line: socket.socket) -> None:
    while True:
        length, code = struct.unpack("!II", line.recv(8))
        if code not in (80877103, 80877104):  # requests for TLS and GSS encryption
            line.recv(length - 8)
            return
        line.sendall(b"N")


@pytest.fixture(params=[CLEAR, MD5, NONE], ids=["clear text", "md5", "nothing"])
def fake(request: pytest.FixtureRequest) -> Iterator[Fake]:
    with fake_postgres(request.param) as served:
        yield served


def test_the_fake_server_gets_a_password_where_it_may(tmp_path: Path) -> None:
    with fake_postgres(CLEAR) as (port, told), pytest.raises(psycopg.OperationalError):
        psycopg.connect(f"postgresql://lanista:{PASSWORD}@127.0.0.1:{port}/lanista", connect_timeout=5)
    assert PASSWORD.encode() in told[0]


def _engine(url: str) -> None:
    with create_store_engine(url).connect() as connection:
        connection.execute(text("SELECT 1"))


async def _feed(url: str) -> None:
    plain = database_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    async with await EventFeed(plain)._connection():
        pass


@pytest.mark.parametrize("connect", [_engine, current], ids=["engine", "migrations"])
def test_no_connection_of_ours_tells_a_password(fake: Fake, connect: Callable[[str], object]) -> None:
    port, told = fake
    with pytest.raises(OperationalError, match="authentication method requirement"):
        connect(f"postgresql://lanista:{PASSWORD}@127.0.0.1:{port}/lanista")
    assert not any(told)


async def test_the_event_feed_tells_no_password(fake: Fake) -> None:
    port, told = fake
    with pytest.raises(psycopg.OperationalError, match="authentication method requirement"):
        await _feed(f"postgresql://lanista:{PASSWORD}@127.0.0.1:{port}/lanista")
    assert not any(told)


def test_the_supervisor_tells_no_password(fake: Fake, tmp_path: Path) -> None:
    port, told = fake
    home = Home(tmp_path / "home")
    home.create()
    postgres = EmbeddedPostgres(home, port)
    assert not postgres.is_ready()
    with pytest.raises(psycopg.OperationalError, match="authentication method requirement"):
        postgres.ensure_database()
    assert not any(told)


@pytest.mark.parametrize("name", ["PGPASSWORD", "PGPASSFILE"])
def test_a_password_of_the_environment_is_not_told_either(
    fake: Fake, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, told = fake
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"*:*:*:*:{PASSWORD}\n")
    passwords.chmod(0o600)
    monkeypatch.setenv(name, PASSWORD if name == "PGPASSWORD" else str(passwords))
    with pytest.raises(OperationalError, match="authentication method requirement"):
        _engine(f"postgresql://lanista@127.0.0.1:{port}/lanista")
    assert not any(told)


def test_who_wants_another_way_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGREQUIREAUTH", "PGPASSWORD", "PGPASSFILE"):
        monkeypatch.delenv(name, raising=False)
    asked = database_url("postgresql://a:b@c/d?require_auth=password&sslmode=verify-full")
    assert asked.query["require_auth"] == "password"
    assert database_url("postgresql://a:b@c/d").query["require_auth"] == "scram-sha-256"
    assert database_url("postgresql://a@c/d").query["require_auth"] == "!password,!md5"
    monkeypatch.setenv("PGREQUIREAUTH", "none")
    assert "require_auth" not in database_url("postgresql://a:b@c/d").query


async def test_the_check_of_an_external_server_says_what_is_wrong(fake: Fake) -> None:
    from lanista.settings import StackSettings
    from lanista.stack.errors import StackError

    port, told = fake
    settings = StackSettings(database_url=f"postgresql://lanista:{PASSWORD}@127.0.0.1:{port}/lanista")
    with pytest.raises(StackError, match=r"LANISTA_DATABASE_URL: .*authentication method requirement") as refused:
        await check_external(settings)
    assert PASSWORD not in str(refused.value) and not any(told)
