"""Policies by alias or version id, loaded once and swapped when their alias moves."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workers.games.names import make_game
from workers.games.protocol import GameSpec
from workers.games.spaces import ActionLayout
from workers.gateway.rpc.registry import ModelRegistry, VersionRef

if TYPE_CHECKING:
    from workers.inference.policy import Policy

MOST_POLICIES = 16
"""Policies held at once; the least recently used one is dropped."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class LoadedPolicy:
    """A version that decides."""

    version: VersionRef
    spec: GameSpec
    layout: ActionLayout
    actor: Policy


class Policies:
    """Finds policies in a registry. Aliases are followed from their first use on, so that no call waits for records."""

    def __init__(self, registry: ModelRegistry, most: int = MOST_POLICIES) -> None:
        self._registry, self._most = registry, most
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    async def get(self, model: str) -> LoadedPolicy:
        """The policy that the name stands for now; raises Refused."""
        entry = self._entries.get(model)
        if entry is None:
            entry = self._entries[model] = _Entry(self._registry, model)
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)[1].close()
        self._entries.move_to_end(model)
        try:
            return await asyncio.shield(entry.first) if entry.current is None else entry.current
        except Exception:
            if self._entries.get(model) is entry:  # so that the next call loads it again
                del self._entries[model]
                entry.close()
            raise

    def close(self) -> None:
        """Follow no alias any more."""
        for entry in self._entries.values():
            entry.close()
        self._entries.clear()


class _Entry:
    """One name, and the policy that it stands for."""

    def __init__(self, registry: ModelRegistry, model: str) -> None:
        self._registry, self._model = registry, model
        self.current: LoadedPolicy | None = None
        self.first: asyncio.Future[LoadedPolicy] = asyncio.ensure_future(self._begin())
        self._follower: asyncio.Task[None] | None = None

    async def _begin(self) -> LoadedPolicy:
        self.current = await self._load(await self._registry.find(self._model))
        if self.current.version.alias:
            self._follower = asyncio.ensure_future(self._follow(self.current))
        return self.current

    async def _follow(self, current: LoadedPolicy) -> None:
        async for version in self._registry.follow(self._model):
            if version.id == current.version.id:
                continue
            try:
                current = self.current = await self._load(version)
            except Exception as error:
                _log.error("%s points at version %s, which cannot be loaded", self._model, version.id, exc_info=error)

    async def _load(self, version: VersionRef) -> LoadedPolicy:
        data = await self._registry.checkpoint(version)
        return await asyncio.to_thread(_loaded, version, data)

    def close(self) -> None:
        self.first.cancel()
        if self._follower is not None:
            self._follower.cancel()


def _loaded(version: VersionRef, data: bytes) -> LoadedPolicy:
    from workers.algorithms.building import actor_of  # imports torch; not needed without policies
    from workers.checkpoints import decode

    checkpoint = decode(data)
    spec = make_game(checkpoint.game.id, 1, **checkpoint.game.options).spec
    return LoadedPolicy(version=version, spec=spec, layout=ActionLayout(spec.action), actor=actor_of(checkpoint, spec))
