"""Checks external parts before anything is started, so that a wrong address is one clear error."""

from __future__ import annotations

import asyncio
import socket

import psycopg
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.service import RPCError, RPCStatusCode

from api.store.core.engine import database_url
from lanista.settings import StackSettings
from lanista.stack.errors import StackError
from orchestrator.search_attributes import register_search_attributes
from orchestrator.settings import TemporalSettings
from orchestrator.temporal import TemporalUnreachable, connect

TIMEOUT = 10


async def check_external(settings: StackSettings) -> None:
    """Raise StackError, naming the setting, for each external part that does not answer."""
    checks = []
    if settings.database_url:
        checks.append(asyncio.to_thread(_postgres, settings.database_url.get_secret_value()))
    if settings.temporal_address:
        checks.append(_temporal(settings))
    if settings.ray_address:
        checks.append(asyncio.to_thread(require_ray, settings.ray_address))
    answers = await asyncio.gather(*checks, return_exceptions=True)
    problems = [answer for answer in answers if isinstance(answer, BaseException)]
    for problem in problems:
        if not isinstance(problem, StackError):
            raise problem
    if problems:
        raise StackError("\n".join(str(problem) for problem in problems))


def _postgres(url: str) -> None:
    parsed = database_url(url)
    shown = f"{parsed.host or 'localhost'}:{parsed.port or 5432}/{parsed.database or ''}"
    plain = parsed.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        psycopg.connect(plain, connect_timeout=TIMEOUT).close()
    except psycopg.Error as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise StackError(f"LANISTA_DATABASE_URL: Postgres at {shown} cannot be used: {reason}") from None


async def _temporal(settings: TemporalSettings) -> None:
    name = settings.temporal_namespace
    try:
        client = await asyncio.wait_for(connect(settings), TIMEOUT)
        await asyncio.wait_for(
            client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=name)), TIMEOUT
        )
        await register_search_attributes(client)
    except TemporalUnreachable as error:
        raise StackError(str(error)) from None
    except TimeoutError:
        raise StackError(
            f"LANISTA_TEMPORAL_ADDRESS: {settings.temporal_address} does not answer within {TIMEOUT} s"
        ) from None
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            raise StackError(
                f"LANISTA_TEMPORAL_NAMESPACE={name!r}: there is no such namespace at {settings.temporal_address}"
            ) from None
        raise StackError(
            f"LANISTA_TEMPORAL_ADDRESS: {settings.temporal_address} refuses: {error.status.name}: {error.message}"
        ) from None


def require_ray(address: str) -> None:
    """Raise StackError if nothing listens at the address: Ray itself would retry for minutes first."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=TIMEOUT).close()
    except OSError as error:
        raise StackError(f"RAY_ADDRESS: the Ray head at {address} cannot be reached: {error}") from None
