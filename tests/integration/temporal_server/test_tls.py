"""TLS to Temporal with a CA of one's own and client certificates: what is let in, and what the errors say."""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from lanista.settings import StackSettings
from lanista.stack.errors import StackError
from lanista.stack.external import check_external
from orchestrator.settings import SettingsError, TemporalSettings
from orchestrator.temporal import TemporalUnreachable, connect
from tests.integration.temporal_server.certificates import Issued, issue
from tests.integration.temporal_server.tls_proxy import tls_proxy

pytestmark = pytest.mark.asyncio(loop_scope="package")


@pytest_asyncio.fixture(scope="module", loop_scope="package")
async def guarded(temporal: Client, ca: Issued, server: Issued) -> AsyncIterator[str]:
    """The address of a Temporal server that wants a client certificate of the CA."""
    upstream = temporal.service_client.config.target_host
    async with tls_proxy(upstream, server=server, clients_of=ca) as address:
        yield address


def settings(address: str, *, trusts: Issued | None = None, shows: Issued | None = None, **more: Any) -> Any:
    return TemporalSettings(
        temporal_address=address,
        temporal_sealed=False,
        temporal_tls_ca=trusts.cert if trusts else None,
        temporal_tls_cert=shows.cert if shows else None,
        temporal_tls_key=shows.key if shows else None,
        **more,
    )


@activity.defn
async def greet(name: str) -> str:
    return f"hello {name}"


@workflow.defn
class Greeting:
    @workflow.run
    async def run(self, name: str) -> str:
        return await workflow.execute_activity(greet, name, start_to_close_timeout=timedelta(seconds=30))


async def test_workers_and_clients_work_through_mutual_tls(guarded: str, ca: Issued, client: Issued) -> None:
    known = settings(guarded, trusts=ca, shows=client)
    serving, calling = await connect(known, serves=True), await connect(known)
    queue = f"greetings-{uuid.uuid4().hex}"
    async with Worker(
        serving,
        task_queue=queue,
        workflows=[Greeting],
        activities=[greet],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        assert await calling.execute_workflow(Greeting.run, "you", id=queue, task_queue=queue) == "hello you"


async def refusal(known: TemporalSettings) -> str:
    with pytest.raises((TemporalUnreachable, SettingsError)) as caught:
        await connect(known)
    return str(caught.value)


async def test_another_ca_than_the_servers(guarded: str, other_ca: Issued, client: Issued) -> None:
    message = await refusal(settings(guarded, trusts=other_ca, shows=client))
    assert f"Temporal at {guarded} cannot be reached" in message
    assert f"the CA in '{other_ca.cert}' did not sign the server's certificate: set LANISTA_TEMPORAL_TLS_CA" in message


async def test_without_a_ca_the_machines_own_are_asked(guarded: str, client: Issued) -> None:
    message = await refusal(settings(guarded, shows=client))
    assert "no CA of this machine signed the server's certificate: set LANISTA_TEMPORAL_TLS_CA" in message


async def test_without_a_client_certificate(guarded: str, ca: Issued) -> None:
    message = await refusal(settings(guarded, trusts=ca))
    assert "set LANISTA_TEMPORAL_TLS_CERT and LANISTA_TEMPORAL_TLS_KEY" in message


async def test_a_client_certificate_of_a_ca_that_the_server_does_not_know(
    guarded: str, folder: Path, ca: Issued, other_ca: Issued
) -> None:
    strange = issue(folder, "strange", other_ca)
    message = await refusal(settings(guarded, trusts=ca, shows=strange))
    assert f"it may not accept the client certificate in '{strange.cert}'" in message


async def test_an_expired_client_certificate_is_told_before_it_is_used(guarded: str, folder: Path, ca: Issued) -> None:
    old = issue(folder, "old-client", ca, valid_days=-1)
    message = await refusal(settings(guarded, trusts=ca, shows=old))
    assert re.search(r"LANISTA_TEMPORAL_TLS_CERT='.*old-client.pem': the certificate expired on 20\d\d-", message)
    assert "Put a new one in its place and start again" in message


async def test_an_expired_certificate_of_the_server(temporal: Client, folder: Path, ca: Issued, client: Issued) -> None:
    old = issue(folder, "old-server", ca, valid_days=-1)
    upstream = temporal.service_client.config.target_host
    async with tls_proxy(upstream, server=old, clients_of=ca) as address:
        message = await refusal(settings(address, trusts=ca, shows=client))
    assert "the server's certificate has expired: renew it at the server" in message


async def test_a_certificate_for_another_name(temporal: Client, folder: Path, ca: Issued, client: Issued) -> None:
    elsewhere = issue(folder, "elsewhere", ca, host="temporal.example")
    upstream = temporal.service_client.config.target_host
    async with tls_proxy(upstream, server=elsewhere, clients_of=ca) as address:
        message = await refusal(settings(address, trusts=ca, shows=client))
        assert "temporal.example" in message and "set LANISTA_TEMPORAL_TLS_SERVER_NAME to it" in message
        named = settings(address, trusts=ca, shows=client, temporal_tls_server_name="temporal.example")
        assert await (await connect(named)).service_client.check_health()


async def test_without_tls_at_a_port_that_speaks_it(guarded: str) -> None:
    assert "set LANISTA_TEMPORAL_TLS=true" in await refusal(settings(guarded))


async def test_the_stack_does_not_start_and_says_why(
    guarded: str, ca: Issued, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANISTA_TEMPORAL_ADDRESS", guarded)
    monkeypatch.setenv("LANISTA_TEMPORAL_TLS_CA", str(ca.cert))
    with pytest.raises(StackError, match="set LANISTA_TEMPORAL_TLS_CERT and LANISTA_TEMPORAL_TLS_KEY"):
        await check_external(StackSettings.load(home=tmp_path))


@pytest.mark.parametrize(
    ("cert", "key", "problem"),
    [
        ("client.key", "client.key", "LANISTA_TEMPORAL_TLS_CERT='.*': holds no certificate in PEM form"),
        ("client.pem", "client.pem", "LANISTA_TEMPORAL_TLS_KEY='.*': holds no private key in PEM form"),
        ("client.pem", "server.key", "LANISTA_TEMPORAL_TLS_KEY='.*': does not belong to the certificate"),
    ],
)
async def test_files_that_do_not_fit(
    folder: Path, client: Issued, server: Issued, cert: str, key: str, problem: str
) -> None:
    known = TemporalSettings(temporal_sealed=False, temporal_tls_cert=folder / cert, temporal_tls_key=folder / key)
    with pytest.raises(SettingsError, match=problem):
        await connect(known, lazy=True)
