"""Lanista's front door: the command line, the Python client and the local stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lanista.client import AsyncClient, Client, LanistaError

__all__ = ["AsyncClient", "Client", "LanistaError"]


def __getattr__(name: str) -> Any:
    """The client is loaded when it is first asked for, so that `import lanista` stays light."""
    if name in __all__:
        from lanista import client

        return getattr(client, name)
    raise AttributeError(f"module 'lanista' has no attribute {name!r}")
