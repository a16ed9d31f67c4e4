"""The connection to Temporal: address, TLS, API key, sealing."""

from orchestrator.temporal.connection import TemporalUnreachable, connect

__all__ = ["TemporalUnreachable", "connect"]
