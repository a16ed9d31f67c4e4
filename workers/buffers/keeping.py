"""The buffers of the players that a process has trained.

A buffer continues from the checkpoint with which it ended. A player that starts from another checkpoint (after a reset
or a rollback, in a fork, or as a copy) starts with the buffer that this checkpoint names, and it names one only if
buffers are kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from workers.buffers.contract import Buffer
from workers.buffers.storing import fetch, store

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class MovedBuffer:
    """A buffer on its way from one process to another."""

    algorithm: Component
    sha256: str
    """The checkpoint that it belongs to."""
    where: Mapping[str, Any]


@dataclass
class _Held:
    """A player's buffer: in memory, or spilled to files."""

    algorithm: Component
    buffer: Buffer | None
    spilled: Mapping[str, Any] | None = None
    sha256: str | None = None
    """The checkpoint that it belongs to."""
    open: bool = False
    """Whether a generation uses it, or was stopped while it did."""


class PlayerBuffers:
    """Keeps buffers up to `limit` bytes in memory; those used longest ago are spilled to artifacts."""

    def __init__(self, artifacts: ArtifactStore, limit: int) -> None:
        self._artifacts, self._limit = artifacts, limit
        self._held: OrderedDict[str, _Held] = OrderedDict()

    @property
    def players(self) -> tuple[str, ...]:
        """The players whose buffers are here, the one used last at the end."""
        return tuple(self._held)

    @property
    def resident_bytes(self) -> int:
        """Bytes of the buffers in memory."""
        return sum(held.buffer.nbytes for held in self._held.values() if held.buffer is not None)

    def open(
        self,
        player: str,
        algorithm: Component,
        sha256: str | None,
        make: Callable[[], Buffer],
        kept: Callable[[], Mapping[str, Any] | None],
    ) -> Buffer:
        """The player's buffer for a generation that starts from this checkpoint; `kept` says what is stored with it."""
        held = self._held.pop(player, None)
        goes_on = held is not None and sha256 is not None and (held.sha256, held.algorithm) == (sha256, algorithm)
        if held is None or not goes_on or (held.open and self._is_kept(held)):
            held = _Held(algorithm, self._restored(make(), kept), sha256=sha256)
        elif held.buffer is None:
            assert held.spilled is not None
            held.buffer = make()
            held.buffer.load(fetch(self._artifacts, held.spilled))
            held.spilled = None
        held.open = True
        self._held[player] = held
        assert held.buffer is not None
        return held.buffer

    def close(self, player: str, sha256: str) -> None:
        """The player's generation has ended with this checkpoint."""
        held = self._held[player]
        held.open, held.sha256 = False, sha256
        self._spill()

    def belongs_to(self, player: str, sha256: str) -> None:
        """The generation under way has stored this mid-generation checkpoint: the next attempt continues the buffer."""
        self._held[player].sha256 = sha256

    def hand_over(self, player: str) -> MovedBuffer | None:
        """Give up the player's buffer, for another process; None where there is nothing to move."""
        held = self._held.pop(player, None)
        if held is None or held.sha256 is None:
            return None
        where = held.spilled if held.buffer is None else store(self._artifacts, held.buffer.state())
        assert where is not None
        return MovedBuffer(algorithm=held.algorithm, sha256=held.sha256, where=where)

    def take_over(self, player: str, moved: MovedBuffer) -> None:
        """Hold a buffer that another process has given up; it is read when it is opened."""
        self._held[player] = _Held(moved.algorithm, None, spilled=moved.where, sha256=moved.sha256)

    def _restored(self, buffer: Buffer, kept: Callable[[], Mapping[str, Any] | None]) -> Buffer:
        stored = kept() if buffer.kept else None
        if stored:
            buffer.load(fetch(self._artifacts, stored))
        return buffer

    @staticmethod
    def _is_kept(held: _Held) -> bool:
        return held.buffer is not None and held.buffer.kept

    def _spill(self) -> None:
        """Write the buffers used longest ago to files until the others fit; the newest stays in memory."""
        resident = [(player, held) for player, held in self._held.items() if held.buffer is not None]
        used = self.resident_bytes
        for player, held in resident[:-1]:
            if used <= self._limit:
                return
            assert held.buffer is not None
            used -= held.buffer.nbytes
            log.info("a buffer is spilled", player=player, bytes=held.buffer.nbytes)
            held.spilled, held.buffer = store(self._artifacts, held.buffer.state()), None
