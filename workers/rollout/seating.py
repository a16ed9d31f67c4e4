"""Who sits where: tables in equal blocks, one opponent a block, seats shared out evenly within it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEARNER = -1
"""Owner of a learning seat; opponents are owners 0, 1, ... in the order of the plan."""
MOST_BLOCKS = 64


@dataclass(frozen=True, kw_only=True)
class Seating:
    """For a whole generation. Fixed blocks keep the shapes of grouped inference fixed and need no sorting."""

    owner: NDArray[np.int64]
    """[tables, seats]: LEARNER or the opponent's number."""
    blocks: tuple[int, ...]
    """Owner of each block of consecutive tables; LEARNER for live self-play, which stands first."""

    @property
    def block_size(self) -> int:
        return len(self.owner) // len(self.blocks)

    @property
    def self_play_tables(self) -> int:
        return self.blocks.count(LEARNER) * self.block_size


def block_count(tables: int) -> int:
    """The most equal blocks, up to 64, that the tables can be cut into."""
    return max(count for count in range(1, MOST_BLOCKS + 1) if tables % count == 0)


def seat(
    *, tables: int, seats: int, shares: Sequence[float], rng: np.random.Generator, part: int = 0, parts: int = 1
) -> Seating:
    """Seat a mixture: `shares[0]` is the share of live self-play, the rest that of each opponent.

    Blocks are drawn by systematic sampling over all parts (processes), so the expected number of an opponent's
    tables is exactly its share and the real one is within a block of it.
    """
    blocks = block_count(tables)
    ladder = np.cumsum(np.asarray(shares, np.float64))
    ticks = (np.arange(blocks * parts) + rng.random()) * (ladder[-1] / (blocks * parts))
    drawn = np.minimum(np.searchsorted(ladder, ticks, side="right"), len(shares) - 1)[part::parts] - 1
    owner = np.repeat(drawn, tables // blocks)[:, None].repeat(seats, axis=1)
    # Every seat is learnt from equally often: neighbours at one block's tables take turns.
    rows = np.arange(tables)
    owner[rows, rows % seats] = LEARNER
    return Seating(owner=owner, blocks=tuple(int(block) for block in drawn))
