"""Seating: tables in blocks of nearly equal size, one opponent per block, teams divided evenly within a block.

See docs/decisions/rollouts.md.
"""

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
    """The owner of every seat for a whole generation. Fixed blocks keep the shapes of grouped inference fixed."""

    owner: NDArray[np.int64]
    """[tables, seats]: LEARNER or the opponent's number."""
    teams: tuple[int, ...]
    """The team of each seat."""
    blocks: tuple[int, ...]
    """Owner of each block of consecutive tables; LEARNER for live self-play, which comes first."""

    @property
    def edges(self) -> NDArray[np.int64]:
        """The first table of each block, then the number of tables."""
        return np.concatenate(([0], np.cumsum(block_sizes(len(self.owner)))))

    @property
    def self_play_tables(self) -> int:
        return int(self.edges[self.blocks.count(LEARNER)])


def block_sizes(tables: int) -> NDArray[np.int64]:
    """Tables of each block: up to 64 blocks; if there is a remainder, the first blocks have one table more."""
    blocks = min(MOST_BLOCKS, tables)
    return tables // blocks + (np.arange(blocks) < tables % blocks)


def seat(
    *,
    tables: int,
    teams: Sequence[int],
    shares: Sequence[float],
    rng: np.random.Generator,
    part: int = 0,
    parts: int = 1,
) -> Seating:
    """Seat a mixture: `shares[0]` is the share of live self-play, the rest that of each opponent.

    `teams` has the team of each seat. The learner takes all seats of one team, the opponent all others.

    Blocks are drawn by systematic sampling over all parts (processes), so the expected number of an opponent's
    tables is exactly its share and the real one is within a block of it.
    """
    sizes = block_sizes(tables)
    # Block sizes in units of the mean, parts interleaved: a larger block covers more of the cumulative shares.
    weights = np.repeat(sizes * (len(sizes) / tables), parts)
    starts = np.cumsum(weights) - weights
    ladder = np.cumsum(np.asarray(shares, np.float64))
    ticks = (starts + weights * rng.random()) * (ladder[-1] / len(weights))
    drawn = np.minimum(np.searchsorted(ladder, ticks, side="right"), len(shares) - 1)[part::parts] - 1
    owner = np.repeat(drawn, sizes)[:, None].repeat(len(teams), axis=1)
    # The learner's team rotates over neighbouring tables, so that every team is learnt equally often.
    mine = np.arange(tables) % (max(teams) + 1)
    owner[np.asarray(teams) == mine[:, None]] = LEARNER
    return Seating(owner=owner, teams=tuple(teams), blocks=tuple(int(block) for block in drawn))
