"""The queue of a match's games: pairs, teams and seeds; tables take the next game from it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workers.games.protocol import GameSpec
from workers.games.seeding import mix
from workers.matches.task import MatchTask

IDLE = -1
OPENINGS_OF_A_LENGTH = 32
"""Openings drawn for a game before shorter ones are tried: in some games every opening of a length ends the game."""


def seatings(entrants: int, teams: Sequence[int]) -> list[tuple[int, ...]]:
    """The seatings of the games of one pair, which together are fair to all entrants.

    An entrant takes all seats of a team. If there are as many entrants as teams, they rotate. If there are two and
    more teams, the first entrant takes each team in turn and the second all others. In a game of one team they play
    one after the other.
    """
    count = max(teams) + 1
    if count == 1:
        ways: list[tuple[int, ...]] = [(entrant,) for entrant in range(entrants)]
    elif entrants == count:
        ways = [tuple((team + turn) % count for team in range(count)) for turn in range(count)]
    else:
        ways = [tuple(0 if team == mine else 1 for team in range(count)) for mine in range(count)]
    return [tuple(way[team] for team in teams) for way in ways]


class GameQueue:
    """The games of a match in order; a table takes the next one when its game is over, and idles after the last.

    Seeds are kept to 53 bits, so that they survive every database, JSON reader and browser.
    """

    def __init__(self, task: MatchTask, spec: GameSpec) -> None:
        ways = np.array(seatings(len(task.entrants), spec.teams), np.int64)
        self.pair = np.repeat(np.arange(task.pairs), len(ways))
        self.seating = np.tile(ways, (task.pairs, 1))
        self.seeds = _short(mix(task.seed, np.arange(task.pairs)))[self.pair]
        self._attempts = np.zeros(len(self.pair), np.int64)
        self._next = 0

    def __len__(self) -> int:
        return len(self.pair)

    def next_games(self, tables: int) -> NDArray[np.int64]:
        """The next games for this many tables, IDLE where none is left."""
        games = np.arange(self._next, self._next + tables)
        self._next = min(self._next + tables, len(self))
        return np.where(games < len(self), games, IDLE)

    def keys(self, games: NDArray[np.int64]) -> NDArray[np.int64]:
        """A number for each game and its present seed; a redrawn game gets a new number."""
        return self._attempts[games] * len(self) + games

    def shortened(self, plies: int, games: NDArray[np.int64]) -> NDArray[np.int64]:
        """The opening lengths of these games: halved after every OPENINGS_OF_A_LENGTH openings that ended a game."""
        shorter: NDArray[np.int64] = plies >> np.minimum(self._attempts[games] // OPENINGS_OF_A_LENGTH, 62)
        return shorter

    def reseed(self, games: NDArray[np.int64]) -> None:
        """Give these games new seeds: their random openings ended them. All games of a pair get the same new seed."""
        self._attempts[games] += 1
        self.seeds[games] = _short(mix(self.seeds[games], self._attempts[games]))


def _short(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return keys >> np.uint64(11)
