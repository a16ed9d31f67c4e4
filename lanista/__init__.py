"""The command line, the Python client and the local stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lanista.client import AsyncClient, Client, LanistaError

__all__ = ["AsyncClient", "Client", "LanistaError"]


def __getattr__(name: str) -> Any:
    """Imports the client on first use, so that `import lanista` is fast."""
    if name in __all__:
        from lanista import client

        return getattr(client, name)
    raise AttributeError(f"module 'lanista' has no attribute {name!r}")
