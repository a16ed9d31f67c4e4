"""The Python client: `Client` blocks, `AsyncClient` is for asyncio; both have the same calls and typed answers."""

from lanista.client.asynchronous import AsyncClient
from lanista.client.blocking import Client
from lanista.client.errors import LanistaError
from lanista.client.league import League
from lanista.client.transport import Retries

__all__ = ["AsyncClient", "Client", "LanistaError", "League", "Retries"]
