"""Tokens, trusted networks, TLS, and settings."""

from __future__ import annotations

import asyncio
import datetime
import ssl
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from orchestrator.settings import SettingsError
from tests.unit.gateway.fakes import BrayClient, FrameClient, HttpClient, connected, open_gateway
from workers.gateway.auth import Access, parse_networks
from workers.gateway.process import Gateway, GatewayOptions
from workers.gateway.settings import GatewaySettings
from workers.gateway.transports.tcp_frames import KEY, START

TOKEN = "a-token-of-some-length"


def certificate(folder: Path) -> tuple[Path, Path]:
    """A self-signed certificate of this machine."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    cert = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "cert.pem", folder / "key.pem"
    paths[0].write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths


async def test_http_needs_the_token() -> None:
    async with open_gateway(tokens=(TOKEN, "the-token-that-follows")) as table:
        port = table.gateway.ports["http"]
        for headers in ({}, {"token": "wrong"}, {"authorization": f"Basic {TOKEN}"}, {"authorization": "Bearer"}):
            async with connected(HttpClient, port) as client:
                status, words = await client.step("start", "g", **headers)
                assert (status, b"needs a token" in words) == (401, True)
                assert "www-authenticate: bearer" in client.head
                assert await client.rest() == b""
        async with connected(HttpClient, port) as client:
            assert (await client.get("/health"))[0] == 200
            assert (await client.step("start", "g", authorization=f"Bearer {TOKEN}"))[0] == 200
            for _ in range(3):
                assert (await client.step("tick", "g", token="the-token-that-follows"))[0] == 200
            assert (await client.step("tick", "g", key=TOKEN))[0] == 200
            assert (await client.step("tick", "g", token=TOKEN[:-1] + "x"))[0] == 401
    assert table.director.casts == [("g", "")]


async def test_tcp_needs_the_token() -> None:
    async with open_gateway(tokens=(TOKEN,)) as table:
        port = table.gateway.ports["tcp"]
        for first in ((START, "g", b""), (KEY, "", b"wrong")):
            async with connected(FrameClient, port) as client:
                assert (await client.step(*first))[0] == 401
                assert await client.rest() == b""
        async with connected(FrameClient, port) as client:
            assert await client.step(KEY, body=TOKEN.encode()) == (200, b"")
            assert (await client.step(START, "g"))[0] == 200
        async with connected(BrayClient, port) as bray:
            bray.send(bray.frame("start", "b", b""))
            assert await bray.rest() == b""
        for key, token in ((b"", TOKEN.encode()), (TOKEN.encode(), b"")):
            async with connected(BrayClient, port) as bray:
                bray.key, bray.token = key, token
                assert await bray.step("start", "b", b"x") == b"X"
                assert await bray.step("stop", "b", b"y") == b"Y"


async def test_trusted_networks_need_no_token() -> None:
    async with (
        open_gateway(tokens=(TOKEN,), trusted=parse_networks("10.0.0.0/8, 127.0.0.1")) as table,
        connected(HttpClient, table.gateway.ports["http"]) as client,
    ):
        assert (await client.step("start", "g"))[0] == 200
    access = Access((TOKEN,), parse_networks("10.0.0.0/8, fd00::/8"))
    assert (
        access.trusts(("10.1.2.3", 5)) and access.trusts(("::ffff:10.1.2.3", 5, 0, 0)) and access.trusts(("fd00::1", 5))
    )
    assert not access.trusts(("11.0.0.1", 5)) and not access.trusts(("fe80::1%eth0", 5)) and not access.trusts("")
    assert not Access((), parse_networks("10.0.0.0/8")).trusts(("127.0.0.1", 5))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "gateway.example.org"])
async def test_a_gateway_is_not_open_to_everybody(host: str) -> None:
    with pytest.raises(SettingsError, match="LANISTA_GATEWAY_TOKEN"):
        Gateway(GatewayOptions(host=host))
    Gateway(GatewayOptions(host=host, tokens=(TOKEN,)))
    Gateway(GatewayOptions(host=host, trusted=parse_networks("10.0.0.0/8")))


async def test_tls(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    trust = ssl.create_default_context(cafile=str(cert))
    async with open_gateway(tls_cert=cert, tls_key=key) as table:
        for kind, port in ((HttpClient, "http"), (FrameClient, "tcp")):
            async with connected(kind, table.gateway.ports[port], ssl=trust) as client:
                start, tick = (START, 2) if kind is FrameClient else ("start", "tick")
                assert await client.step(start, f"g-{port}", b"x") == (200, b"X")
                for size in (1, 1, 100_000):
                    assert await client.step(tick, f"g-{port}", b"x" * size) == (200, b"X" * size)
        async with connected(HttpClient, table.gateway.ports["http"]) as plain:
            plain.send(b"POST /step HTTP/1.1\r\n\r\n")
            assert b"HTTP" not in await plain.rest()
        async with connected(HttpClient, table.gateway.ports["http"], ssl=trust) as client:
            client.send(b"POST /step HTTP/1.1\r\ncontent-length: 99999999\r\n\r\n")
            assert (await client.answer())[0] == 413


async def test_a_port_in_use_is_named() -> None:
    async with open_gateway() as table:
        port = table.gateway.ports["http"]
        async with Gateway(GatewayOptions(http_port=port)) as other:
            with pytest.raises(SettingsError, match=f"port {port} cannot be opened there: Address already in use"):
                await other.listen()


def test_a_missing_certificate_is_named(tmp_path: Path) -> None:
    (tmp_path / "cert.pem").write_text("no certificate")
    with pytest.raises(SettingsError, match=r"LANISTA_GATEWAY_TLS_CERT=.*cert\.pem"):
        Gateway(GatewayOptions(tls_cert=tmp_path / "cert.pem", tls_key=tmp_path / "key.pem"))


def test_settings_become_options() -> None:
    options = GatewaySettings.load(
        gateway_port=1, gateway_tcp_port=0, gateway_token=f"{TOKEN}, {TOKEN}2", gateway_trusted="10.0.0.0/8"
    ).gateway_options
    assert (options.http_port, options.tcp_port, options.grpc_port) == (1, None, 8812)
    assert options.tokens == (TOKEN, f"{TOKEN}2") and len(options.trusted) == 1
    assert options.limits.buffered_bytes == 256 << 20


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("gateway_token", "short", "shorter than 16"),
        ("gateway_trusted", "10.0.0.0/99", "10.0.0.0/99"),
        ("gateway_tls_cert", __file__, "set both or neither"),
        ("gateway_session_seconds", 0, "greater than or equal to 1"),
    ],
)
def test_wrong_settings_are_refused(name: str, value: object, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        GatewaySettings.load(**{name: value})


async def test_many_connections_wait_without_cost() -> None:
    """Peers that connect and say nothing are held, and closed with the gateway."""
    async with open_gateway() as table:
        port = table.gateway.ports["tcp"]
        opened = await asyncio.gather(*(asyncio.open_connection("127.0.0.1", port) for _ in range(300)))
        while len(table.gateway.front.connections) < 300:
            await asyncio.sleep(0.005)
        await table.gateway.stop()
        for reader, writer in opened:
            assert await reader.read() == b""
            writer.close()
