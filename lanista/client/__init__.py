"""The Python client: `Client` blocks, `AsyncClient` is for asyncio; both have the same calls and typed answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lanista.client.blocking import Client
from lanista.client.errors import LanistaError
from lanista.client.league import League
from lanista.client.transport import Retries

if TYPE_CHECKING:
    from lanista.client.asynchronous import AsyncClient

__all__ = ["AsyncClient", "Client", "LanistaError", "League", "Retries"]


def __getattr__(name: str) -> Any:
    """Imports the asynchronous client on first use: commands need it only to watch."""
    if name == "AsyncClient":
        from lanista.client.asynchronous import AsyncClient

        return AsyncClient
    raise AttributeError(f"module 'lanista.client' has no attribute {name!r}")
