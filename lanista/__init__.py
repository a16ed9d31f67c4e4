"""The command line, the Python client, the local stack, training in one process, and names for users' code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lanista.client import AsyncClient, Client, LanistaError
    from lanista.serving.loading import load
    from lanista.training.run import train

__all__ = ["AsyncClient", "Client", "LanistaError", "load", "train"]

_MODULES = {"load": "lanista.serving.loading", "train": "lanista.training.run"}
"""Where a name is defined, if not in the client."""


def __getattr__(name: str) -> Any:
    """Imports a name on first use, so that `import lanista` is fast."""
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(_MODULES.get(name, "lanista.client")), name)
    raise AttributeError(f"module 'lanista' has no attribute {name!r}")
