"""One way to reach Temporal, for the API, the workers and the command line alike."""

from __future__ import annotations

from temporalio.client import Client, TLSConfig
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.runtime import LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter

from orchestrator.settings import TemporalSettings


class TemporalUnreachable(Exception):
    """Nothing that speaks Temporal's language answers at the address; the message names it and the setting."""


async def connect(settings: TemporalSettings, *, lazy: bool = False) -> Client:
    """Connect to Temporal, or raise TemporalUnreachable; `lazy` puts the first network use off to the first call."""
    try:
        return await Client.connect(
            settings.temporal_address,
            namespace=settings.temporal_namespace,
            api_key=settings.temporal_api_key.get_secret_value() if settings.temporal_api_key else None,
            tls=_tls(settings),
            data_converter=pydantic_data_converter,
            lazy=lazy,
            runtime=_runtime(),
        )
    except RuntimeError as error:  # what the SDK raises for every failure to connect
        raise TemporalUnreachable(
            f"LANISTA_TEMPORAL_ADDRESS: Temporal at {settings.temporal_address} cannot be reached: {error}"
        ) from error


def _tls(settings: TemporalSettings) -> TLSConfig | bool:
    if settings.temporal_tls_cert and settings.temporal_tls_key:
        return TLSConfig(
            client_cert=settings.temporal_tls_cert.read_bytes(),
            client_private_key=settings.temporal_tls_key.read_bytes(),
        )
    return settings.temporal_tls or settings.temporal_api_key is not None


_shared_runtime: list[Runtime] = []


def _runtime() -> Runtime:
    """One SDK runtime a process: each owns a thread pool, and its own log lines stay at warnings."""
    if not _shared_runtime:
        quiet = LoggingConfig(filter=TelemetryFilter(core_level="ERROR", other_level="ERROR"))
        _shared_runtime.append(Runtime(telemetry=TelemetryConfig(logging=quiet)))
    return _shared_runtime[0]
