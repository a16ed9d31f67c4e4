"""The API key of a Temporal server: it arrives with every call, and a new one in its file is used without a restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import grpc
import pytest
import pytest_asyncio
from temporalio.api.workflowservice.v1 import GetSystemInfoRequest, GetSystemInfoResponse

from orchestrator.settings import SettingsError, TemporalSettings
from orchestrator.temporal import api_key, connect
from tests.integration.temporal_server.certificates import Issued
from tests.integration.workflows.conftest import eventually

pytestmark = pytest.mark.asyncio(loop_scope="package")


class FakeTemporal(grpc.GenericRpcHandler):
    """Answers every call with nothing, and keeps the credentials that came with each."""

    def __init__(self) -> None:
        self.credentials: list[str] = []
        self.address = ""

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes]:
        metadata = dict(details.invocation_metadata or ())
        self.credentials.append(str(metadata.get("authorization", "")))

        async def answer(_request: bytes, _context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
            return GetSystemInfoResponse().SerializeToString()

        return grpc.unary_unary_rpc_method_handler(answer)


@pytest_asyncio.fixture(loop_scope="package")
async def cloud(server: Issued) -> AsyncIterator[FakeTemporal]:
    fake = FakeTemporal()
    serving = grpc.aio.server(handlers=[fake])
    credentials = grpc.ssl_server_credentials([(server.key.read_bytes(), server.cert.read_bytes())])
    fake.address = f"localhost:{serving.add_secure_port('127.0.0.1:0', credentials)}"
    await serving.start()
    yield fake
    await serving.stop(0)


async def test_the_key_comes_with_every_call(cloud: FakeTemporal, ca: Issued) -> None:
    known = TemporalSettings(temporal_address=cloud.address, temporal_api_key="first-key", temporal_tls_ca=ca.cert)
    used = await connect(known)
    await used.workflow_service.get_system_info(GetSystemInfoRequest())
    assert cloud.credentials and set(cloud.credentials) == {"Bearer first-key"}


async def test_a_new_key_in_the_file_is_used(
    cloud: FakeTemporal, ca: Issued, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_key, "REREAD_SECONDS", 0.02)
    file = tmp_path / "key"
    file.write_text("first-key\n")
    known = TemporalSettings(temporal_address=cloud.address, temporal_api_key_file=file, temporal_tls_ca=ca.cert)
    used = await connect(known)
    assert cloud.credentials[-1] == "Bearer first-key"
    file.write_text("")  # as a file that is being written: the key before stays in use
    await asyncio.sleep(0.1)
    file.write_text("second-key\n")

    async def arrives() -> bool:
        await used.workflow_service.get_system_info(GetSystemInfoRequest())
        return cloud.credentials[-1] == "Bearer second-key"

    await eventually(arrives)
    assert set(cloud.credentials) == {"Bearer first-key", "Bearer second-key"}


def two_keys(file: Path) -> TemporalSettings:
    return TemporalSettings.load(temporal_api_key="a-key", temporal_api_key_file=file)


def no_key(file: Path) -> TemporalSettings:
    file.write_text("two words")
    return TemporalSettings.load(temporal_api_key_file=file)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (two_keys, "LANISTA_TEMPORAL_API_KEY and LANISTA_TEMPORAL_API_KEY_FILE: set one"),
        (no_key, "LANISTA_TEMPORAL_API_KEY_FILE='.*': must hold one API key"),
    ],
)
async def test_wrong_keys_are_refused(make: Callable[[Path], TemporalSettings], problem: str, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("a-key")
    with pytest.raises(SettingsError, match=problem):
        await connect(make(tmp_path / "key"))
