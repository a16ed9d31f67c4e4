"""The control channel: encrypted where certificates are given, and patient with frames that take long."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from orchestrator.settings import LanistaSettings, SettingsError
from tests.unit.gateway.league_games import GatewayThread
from tests.unit.gateway.test_access import certificate
from workers.gateway.auth import tls_context
from workers.gateway.league import frames, server
from workers.gateway.league.access import GatewayAccess
from workers.gateway.league.frames import Frame, read_frame, receive_frame, send_frame
from workers.gateway.league.handshake import NotAuthentic, greet_as_crew, greet_as_gateway
from workers.gateway.league.links import CONNECTED, Links
from workers.gateway.league.settings import LeagueGatewaySettings
from workers.gateway.league.tls import TlsConnection, trusting
from workers.settings import WorkerSettings

SECONDS = 20.0


@pytest.fixture
def encrypted(tmp_path: Path) -> Iterator[tuple[GatewayThread, str]]:
    """A gateway whose control port speaks TLS, and its certificate."""
    public, key = certificate(tmp_path)
    gateway = GatewayThread(tmp_path, gamecores=0, tls=tls_context(public, key))
    yield gateway, public.read_text()
    gateway.stop()


def answered(links: Links) -> bool:
    """Whether the gateway answers a question over these connections."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        arrived = links.next(0.1)
        if arrived is not None and arrived.frame.kind == CONNECTED:
            links.send_all(Frame("status", {"name": ""}))
        elif arrived is not None and arrived.frame.kind == "status":
            return True
    return False


@pytest.mark.parametrize(
    ("gateways", "crews", "connects"),
    [
        ("new,old", "old", True),
        ("new,old", "new", True),
        ("old", "new, old", True),
        ("new", "old", False),
        ("new,", ",", False),
    ],
)
async def test_a_key_is_changed_while_both_ends_run(gateways: str, crews: str, connects: bool) -> None:
    greeted: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            greeted.set_result((await greet_as_gateway(reader, writer, gateways))["who"])
        except (NotAuthentic, EOFError) as error:
            greeted.set_result(f"refused: {type(error).__name__}")
        finally:
            await writer.drain()
            writer.close()

    async with await asyncio.start_server(welcome, "127.0.0.1", 0) as listening:
        with socket.create_connection(listening.sockets[0].getsockname()) as connection:
            try:
                await asyncio.to_thread(greet_as_crew, connection, crews, "a crew")
                outcome = "welcome"
            except NotAuthentic:
                outcome = "refused"
        who = await asyncio.wait_for(greeted, SECONDS)
    assert (outcome, who == "a crew") == (("welcome", True) if connects else ("refused", False))


@pytest.mark.parametrize("kind", [LeagueGatewaySettings, WorkerSettings])
def test_a_comma_too_many_is_no_empty_key(kind: type[LanistaSettings]) -> None:
    with pytest.raises(SettingsError, match=r"control-key=\(hidden\): a key is empty; is there a comma too many"):
        kind.load(gateway_control_key="new,")


def problem_of(access: GatewayAccess) -> str:
    """Why no connection comes about."""
    links = Links(access, "a test")
    deadline = time.monotonic() + SECONDS
    try:
        while time.monotonic() < deadline:
            (problem,) = links.problems or ["connected"]
            if "not connected yet" not in problem:
                return problem
            time.sleep(0.02)
    finally:
        links.close()
    raise AssertionError("neither connected nor refused")


def test_crews_speak_tls_with_a_gateway_that_they_trust(encrypted: tuple[GatewayThread, str]) -> None:
    gateway, authority = encrypted
    links = Links(replace(gateway.access, authority=authority), "a test")
    assert answered(links)
    links.close()


def test_a_gateway_of_another_authority_is_refused(encrypted: tuple[GatewayThread, str], tmp_path: Path) -> None:
    gateway, _ = encrypted
    (tmp_path / "other").mkdir()
    other = certificate(tmp_path / "other")[0].read_text()
    assert "certificate verify failed" in problem_of(replace(gateway.access, authority=other))


def test_a_crew_without_tls_is_not_answered(encrypted: tuple[GatewayThread, str]) -> None:
    assert "refused the greeting" in problem_of(encrypted[0].access)


def test_both_ends_may_send_large_frames_at_once_over_tls(tmp_path: Path) -> None:
    public, key = certificate(tmp_path)
    listening = socket.create_server(("127.0.0.1", 0))
    context = tls_context(public, key)
    assert context is not None
    large = Frame("large", {}, {"numbers": np.arange(1_000_000)})
    got: list[Frame] = []

    def echo() -> None:
        plain, _ = listening.accept()
        with context.wrap_socket(plain, server_side=True) as peer:
            for _ in range(3):
                send_frame(peer, receive_frame(peer))

    thread = threading.Thread(target=echo)
    thread.start()
    plain = socket.create_connection(listening.getsockname(), SECONDS)
    connection = TlsConnection(plain, trusting(public.read_text()), "127.0.0.1")
    reading = threading.Thread(target=lambda: got.extend(receive_frame(connection) for _ in range(3)))
    reading.start()
    for _ in range(3):
        send_frame(connection, large)
    reading.join(SECONDS)
    thread.join(SECONDS)
    connection.close()
    listening.close()
    assert [each.kind for each in got] == ["large"] * 3
    np.testing.assert_array_equal(got[-1].arrays["numbers"], large.arrays["numbers"])


def test_a_certificate_needs_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public, key = certificate(tmp_path)
    monkeypatch.setenv("LANISTA_GATEWAY_CONTROL_TLS_CERT", str(public))
    with pytest.raises(SettingsError, match="set both or neither"):
        LeagueGatewaySettings.load()
    monkeypatch.setenv("LANISTA_GATEWAY_CONTROL_TLS_KEY", str(key))
    assert LeagueGatewaySettings.load().gateway_control_tls_key == key
    monkeypatch.setenv("LANISTA_GATEWAY_CONTROL_TLS_CA", str(public))
    assert WorkerSettings.load().gateway_access.authority == public.read_text()


def test_an_authority_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    monkeypatch.setenv("LANISTA_GATEWAY_CONTROL_TLS_CA", str(tmp_path / "ca.pem"))
    with pytest.raises(SettingsError, match="no certificates"):
        WorkerSettings.load()


def test_weights_may_take_longer_than_a_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LEASE_SECONDS", 0.5)
    monkeypatch.setattr(server, "ALIVE_SECONDS", 0.1)
    gateway = GatewayThread(tmp_path, gamecores=0)
    connection = socket.create_connection(("127.0.0.1", gateway.port), SECONDS)
    greet_as_crew(connection, gateway.access.key, "a slow line")
    pieces = b"".join(Frame("weights", {"id": "unknown"}, {"large": np.zeros(1000)}).encode())
    began = time.monotonic()
    for at in range(0, len(pieces), len(pieces) // 12):
        connection.sendall(pieces[at : at + len(pieces) // 12])
        time.sleep(0.1)
    assert time.monotonic() - began > 2 * server.LEASE_SECONDS
    assert receive_frame(connection).kind == "pong", "the peer hears from the gateway while the frame arrives"
    send_frame(connection, Frame("status", {"name": ""}))
    while (found := receive_frame(connection)).kind == "pong":
        pass
    assert found.kind == "status"
    connection.close()
    gateway.stop()


def test_a_line_that_falls_silent_within_a_frame_loses_its_lease() -> None:
    async def test() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(b"".join(Frame("weights", {}, {"large": np.zeros(1000)}).encode())[:-1])
        with pytest.raises(TimeoutError):
            await read_frame(reader, pause=0.05)

    asyncio.run(test())


def test_a_timeout_of_the_sender_holds_for_a_part_not_for_the_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "PART_BYTES", 1000)
    sent: list[int] = []

    class Line:
        def sendall(self, data: memoryview) -> None:
            sent.append(len(data))

    send_frame(Line(), Frame("weights", {}, {"large": np.zeros(1000)}))  # type: ignore[arg-type]
    assert max(sent) == 1000 and sum(sent) > 8000
