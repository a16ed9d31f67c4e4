"""The connection to Temporal of the API, the workers and the command line."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.runtime import Runtime

from orchestrator.sdk_metrics import make_runtime
from orchestrator.sealing import KeyRing, KeyUse, SealedOptions, sealed_options
from orchestrator.settings import SettingsError, TemporalSettings
from orchestrator.temporal.api_key import api_key_of, follow_key_file
from orchestrator.temporal.identity import own_identity
from orchestrator.temporal.tls import explain_failure, tls_of
from orchestrator.tracing import spans
from orchestrator.tracing.temporal_calls import TraceInterceptor


class TemporalUnreachable(Exception):
    """No Temporal server answers at the address; the message names the address, the setting and what to do."""


async def connect(
    settings: TemporalSettings,
    *,
    keys: Iterable[KeyUse] = (),
    serves: bool = False,
    lazy: bool = False,
    runtime: Runtime | None = None,
) -> Client:
    """Connect to Temporal, or raise TemporalUnreachable; with `lazy` the connection is made at the first call.

    Everything that goes through the client is sealed. `keys`: those that the caller cannot do without; SettingsError
    where one is missing. `serves`: workers are made from the client. `runtime` is one that exports metrics; by default
    all connections of a process share one that does not.
    """
    sealing = _sealing(settings, keys, serves=serves)
    api_key, tls = api_key_of(settings), tls_of(settings)
    try:
        client = await Client.connect(
            settings.temporal_address,
            namespace=settings.temporal_namespace,
            api_key=api_key,
            tls=tls,
            identity=own_identity() if serves else None,
            lazy=lazy,
            runtime=runtime or _default_runtime(),
            data_converter=sealing["data_converter"],
            # the seals are checked first: what is refused leaves no span
            interceptors=[*sealing["interceptors"], *([TraceInterceptor()] if spans.tracing() else [])],
        )
    except RuntimeError as error:  # what the SDK raises for every failure to connect
        advice = explain_failure(settings, str(error))
        raise TemporalUnreachable(
            f"LANISTA_TEMPORAL_ADDRESS: Temporal at {settings.temporal_address} cannot be reached: "
            f"{f'{advice} ({error})' if advice else error}"
        ) from error
    if settings.temporal_api_key_file is not None:
        follow_key_file(client, settings.temporal_api_key_file)
    return client


def _sealing(settings: TemporalSettings, needed: Iterable[KeyUse], *, serves: bool) -> SealedOptions:
    if not settings.temporal_sealed:
        return SealedOptions(data_converter=pydantic_data_converter, interceptors=[])
    ring = KeyRing.from_settings(settings)
    if missing := [use.setting for use in needed if not ring.has(use)]:
        raise SettingsError(
            f"{' and '.join(missing)}: not set, and what goes through Temporal must be sealed. Set the same secrets "
            "for all processes of this installation: see docs/guides/security.md"
        )
    return sealed_options(
        ring, namespace=settings.temporal_namespace, since=settings.temporal_sealed_since, serves=serves
    )


@cache
def _default_runtime() -> Runtime:
    return make_runtime()
