"""The payoff of a league: win rates and returns of all pairs of players, sparse and in both directions.

See docs/decisions/payoff-and-matchmaking.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Protocol

import numpy as np

from league.errors import InvalidInput
from league.payoff.cells import Cell, decayed, effective_games, wilson
from league.types import Earned, PlayerId
from league.validation import Floats, finite, whole_count

Seating = tuple[int, int]
"""The seats of the player and of the opponent."""

UNSEATED: Seating = (-1, -1)
"""For results given without a seat."""


class PayoffView(Protocol):
    """What matchmaking and the snapshot rule read of a payoff."""

    def win_rates(self, player: PlayerId, opponents: Sequence[PlayerId]) -> Floats:
        """The player's win rate against each opponent, 0.5 while unknown."""

    def return_margins(self, player: PlayerId, opponents: Sequence[PlayerId]) -> Floats:
        """Half the difference of mean returns; 0 while unknown, NaN where returns were not recorded."""

    def raw_games(self, player: PlayerId, opponent: PlayerId) -> int:
        """Games played between the two, undecayed."""

    def known(self, player: PlayerId, opponent: PlayerId) -> bool:
        """Whether enough games were played for the win rate to mean something."""

    def known_among(self, player: PlayerId, opponents: Sequence[PlayerId]) -> int:
        """The number of opponents against which the player's win rate is known."""

    def interval(self, player: PlayerId, opponent: PlayerId) -> tuple[float, float]:
        """The confidence interval of the win rate, (0, 1) while unknown."""


@dataclass(frozen=True, kw_only=True)
class PayoffEntry:
    """One stored cell as a plain value, for a store to keep and to load."""

    player: PlayerId
    opponent: PlayerId
    seat: int
    opponent_seat: int
    cell: Cell


class Payoff:
    """Decayed and raw results per ordered pair and seating; one update writes both directions."""

    def __init__(self, decay: float = 0.99, min_games: int = 8) -> None:
        self.decay = finite(decay, "decay")
        if not 0 < self.decay <= 1:
            raise InvalidInput(f"decay must lie above 0 and at most 1, got {decay!r}")
        self.min_games = whole_count(min_games, "min_games")
        self._cells: dict[PlayerId, dict[PlayerId, dict[Seating, Cell]]] = {}
        # Win rate and margin of every known pair are precomputed: matchmaking over 10,000 opponents only looks them up.
        self._headlines: dict[PlayerId, dict[PlayerId, float]] = {}
        self._margins: dict[PlayerId, dict[PlayerId, float]] = {}

    @classmethod
    def from_entries(cls, entries: Iterable[PayoffEntry], *, decay: float, min_games: int) -> Payoff:
        """A payoff from stored cells; each is written in both directions, so one direction is enough."""
        payoff = cls(decay=decay, min_games=min_games)
        for entry in entries:
            payoff._write(entry.player, entry.opponent, (entry.seat, entry.opponent_seat), entry.cell)
        return payoff

    def entries(self) -> Iterator[PayoffEntry]:
        """Every cell, both directions."""
        for player, row in self._cells.items():
            for opponent, seatings in row.items():
                for (seat, opponent_seat), cell in seatings.items():
                    yield PayoffEntry(
                        player=player, opponent=opponent, seat=seat, opponent_seat=opponent_seat, cell=cell
                    )

    def update(
        self,
        a: PlayerId,
        b: PlayerId,
        wins: int,
        draws: int,
        losses: int,
        *,
        seat: int | None = None,
        opponent_seat: int | None = None,
        earned: Earned | None = None,
    ) -> None:
        """Count a batch of results from a's view. If only `seat` is given, the game has two seats."""
        seating = _seating(seat, opponent_seat)
        before = self._cells.get(a, {}).get(b, {}).get(seating, Cell())
        self._write(a, b, seating, decayed(before, wins, draws, losses, self.decay, earned))

    def inherit(self, child: PlayerId, parent: PlayerId) -> None:
        """Give a snapshot its parent's cells against everyone else."""
        for opponent, seatings in list(self._cells.get(parent, {}).items()):
            if opponent != child:
                for seating, cell in seatings.items():
                    self._write(child, opponent, seating, cell)

    def win_rate(self, a: PlayerId, b: PlayerId) -> float:
        """The mean over seatings of a's win rate against b; 0.5 while the raw count is below min_games."""
        return self._headlines.get(a, {}).get(b, 0.5)

    def win_rates(self, player: PlayerId, opponents: Sequence[PlayerId]) -> Floats:
        """`win_rate` against many at once."""
        row = self._headlines.get(player, {})
        return np.fromiter(map(row.get, opponents, repeat(0.5)), np.float64, len(opponents))

    def return_margin(self, a: PlayerId, b: PlayerId) -> float:
        """The mean over seatings of half the difference of the two sides' mean returns.

        In a zero-sum game of two this is a's mean return. 0 while the raw count is below min_games; NaN where
        some of the games were counted without their returns.
        """
        return self._margins.get(a, {}).get(b, 0.0)

    def return_margins(self, player: PlayerId, opponents: Sequence[PlayerId]) -> Floats:
        """`return_margin` against many at once."""
        row = self._margins.get(player, {})
        return np.fromiter(map(row.get, opponents, repeat(0.0)), np.float64, len(opponents))

    def seat_win_rate(self, a: PlayerId, b: PlayerId, seat: int, opponent_seat: int | None = None) -> float:
        """a's win rate from one seat; 0.5 while that seating's raw count is below min_games."""
        cell = self._cells.get(a, {}).get(b, {}).get(_seating(seat, opponent_seat), Cell())
        return cell.win_rate if self._enough(cell.games) else 0.5

    def raw_games(self, player: PlayerId, opponent: PlayerId) -> int:
        """Games between the two over all seatings, undecayed."""
        return sum(cell.games for cell in self._seatings(player, opponent))

    def known(self, player: PlayerId, opponent: PlayerId) -> bool:
        """Whether the raw count has reached min_games (and is not zero)."""
        return opponent in self._headlines.get(player, {})

    def known_among(self, player: PlayerId, opponents: Sequence[PlayerId]) -> int:
        """The number of opponents against which the player is `known`."""
        return sum(map(self._headlines.get(player, {}).__contains__, opponents))

    def interval(self, player: PlayerId, opponent: PlayerId, level: float = 0.95) -> tuple[float, float]:
        """Wilson's interval of the win rate at the effective sample size; (0, 1) while it is not known.

        The mean over k seatings has the effective size k^2 / sum(1/n_s): a rarely played seat widens the interval.
        """
        if not self.known(player, opponent):
            return wilson(0.5, 0, level)
        sizes = [effective_games(cell.games, self.decay) for cell in self._seatings(player, opponent)]
        size = len(sizes) ** 2 / sum(1 / each for each in sizes)
        return wilson(self.win_rate(player, opponent), size, level)

    def matrix(self, players: Sequence[PlayerId]) -> Floats:
        """The win rates among `players`, row against column, 0.5 on the diagonal."""
        return np.array([self.win_rates(player, players) for player in players]).reshape(len(players), len(players))

    def _seatings(self, player: PlayerId, opponent: PlayerId) -> Iterable[Cell]:
        return self._cells.get(player, {}).get(opponent, {}).values()

    def _enough(self, games: int) -> bool:
        return games >= max(self.min_games, 1)

    def _write(self, a: PlayerId, b: PlayerId, seating: Seating, cell: Cell) -> None:
        if a == b:
            raise InvalidInput(f"{a!r} against itself is live self-play, which is not a payoff entry")
        if cell.games == 0:
            return
        self._cells.setdefault(a, {}).setdefault(b, {})[seating] = cell
        self._cells.setdefault(b, {}).setdefault(a, {})[seating[::-1]] = cell.mirrored()
        # each side from its own view, by an order-independent sum: neither names nor a reload changes a bit
        for player, opponent in ((a, b), (b, a)):
            cells = self._cells[player][opponent].values()
            if self._enough(sum(each.games for each in cells)):
                rate = math.fsum(each.win_rate for each in cells) / len(cells)
                self._headlines.setdefault(player, {})[opponent] = rate
        if self.known(a, b):
            seatings = self._cells[a][b].values()
            margin = math.fsum(math.nan if each.margin is None else each.margin for each in seatings) / len(seatings)
            self._margins.setdefault(a, {})[b] = margin
            self._margins.setdefault(b, {})[a] = -margin


def _seating(seat: int | None, opponent_seat: int | None) -> Seating:
    if seat is None:
        if opponent_seat is not None:
            raise InvalidInput("opponent_seat was given without seat")
        return UNSEATED
    own = whole_count(seat, "seat")
    if opponent_seat is not None:
        return own, whole_count(opponent_seat, "opponent_seat")
    if own > 1:
        raise InvalidInput(f"seat {own} of a game of more than two seats needs opponent_seat")
    return own, 1 - own
