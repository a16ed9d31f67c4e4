"""What the services Policy and Parameters ask of the league's records."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class VersionRef:
    """A recorded version, without its weights."""

    id: str
    player: str
    number: int
    steps: int
    sha256: str
    origin: str
    alias: str = ""
    """The alias that it was found by; empty where it was named by its id."""


class ModelRegistry(Protocol):
    """Versions and aliases; every method raises `Refused` with words for the caller."""

    async def find(self, model: str) -> VersionRef:
        """The version that an alias or an id names."""
        ...

    async def checkpoint(self, version: VersionRef) -> bytes:
        """Its checkpoint, checked against its hash."""
        ...

    def follow(self, model: str) -> AsyncIterator[VersionRef]:
        """The version that the alias names now, and each one that it is moved to. Goes on while the API is away."""
        ...

    async def publish(self, *, trial: str, name: str, like: str | None, data: bytes) -> VersionRef:
        """Record weights (a safetensors file) as an imported version of a new, frozen player."""
        ...
