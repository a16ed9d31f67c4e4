"""Seating: tables in blocks of nearly equal size, one opponent per block, teams divided evenly within a block.

See docs/decisions/rollouts-and-matches.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEARNER = -1
"""Owner of a learning seat; opponents are owners 0, 1, ... in the order of the plan."""
MATE = -2
"""Owner of a seat of the learner's team in which another player sits."""
_GOLDEN = (5**0.5 - 1) / 2
MOST_BLOCKS = 64


@dataclass(frozen=True, kw_only=True)
class Seating:
    """The owner of every seat for a whole generation. Fixed blocks keep the shapes of grouped inference fixed."""

    owner: NDArray[np.int64]
    """[tables, seats]: LEARNER, MATE or the opponent's number."""
    teams: tuple[int, ...]
    """The team of each seat."""
    blocks: tuple[int, ...]
    """Owner of each block of consecutive tables; LEARNER for live self-play, which comes first."""
    mates: NDArray[np.int64] | None = None
    """[tables]: the number of the mate at each table, LEARNER where the learner has its whole team; None for all."""

    @property
    def edges(self) -> NDArray[np.int64]:
        """The first table of each block, then the number of tables."""
        return np.concatenate(([0], np.cumsum(block_sizes(len(self.owner)))))

    @property
    def self_play_tables(self) -> int:
        return int(self.edges[self.blocks.count(LEARNER)])

    @property
    def unrated(self) -> NDArray[np.bool_]:
        """[tables]: the learner sits in all seats, so that games between teams have no result."""
        return np.asarray((self.owner == LEARNER).all(axis=1))


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
    mates: Sequence[float] = (),
) -> Seating:
    """Seat a mixture: `shares[0]` is the share of live self-play, the rest that of each opponent.

    `teams` has the team of each seat. The learner takes all seats of one team, the opponent all others. `mates` are the
    shares of the learner itself and of each mate: at a mate's tables the learner has one seat of its team.

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
    blocks = tuple(int(block) for block in drawn)
    if len(mates) < 2:
        return Seating(owner=owner, teams=tuple(teams), blocks=blocks)
    chosen = _seat_mates(owner, np.asarray(teams), mine, mates, rng.random(), part, parts)
    return Seating(owner=owner, teams=tuple(teams), blocks=blocks, mates=chosen)


def _seat_mates(
    owner: NDArray[np.int64],
    teams: NDArray[np.int64],
    mine: NDArray[np.int64],
    shares: Sequence[float],
    start: float,
    part: int,
    parts: int,
) -> NDArray[np.int64]:
    """Give the mates their seats in `owner`; returns the mate's number at each table.

    Multiples of the golden ratio spread every share evenly, over the tables of each opponent as over all of them. The
    learner's own seat in a mixed team rotates.
    """
    tables = np.arange(len(owner))
    nth = tables // (int(teams.max()) + 1)
    ladder = np.cumsum(np.asarray(shares, np.float64))
    ticks = (start + (nth * parts + part) * _GOLDEN) % 1.0 * ladder[-1]
    chosen: NDArray[np.int64] = np.minimum(np.searchsorted(ladder, ticks, side="right"), len(shares) - 1) - 1
    sizes = np.bincount(teams)
    chosen[sizes[mine] == 1] = LEARNER  # a team of one seat has no mates
    rank = np.array([int((teams[:seat] == teams[seat]).sum()) for seat in range(len(teams))])
    mixed = (chosen != LEARNER)[:, None] & (teams == mine[:, None])
    owner[mixed & (rank != (nth % sizes[mine])[:, None])] = MATE
    return chosen
