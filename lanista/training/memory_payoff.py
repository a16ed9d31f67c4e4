"""The payoff of a league in memory: one table for each stream, read as their sum."""

from __future__ import annotations

from collections.abc import Iterable

from league.payoff import Cell, Payoff, PayoffEntry
from league.types import Earned, PlayerId, Stream, Tally

Place = tuple[PlayerId, PlayerId, int, int]
READ = (Stream.TRAINING, Stream.RATING)
"""The streams that matchmaking and the snapshot rule read."""


class MemoryPayoff:
    """Results of players against each other."""

    def __init__(self, *, decay: float, min_games: int) -> None:
        self._decay, self._min_games = decay, min_games
        self._streams = {stream: Payoff(decay=decay, min_games=min_games) for stream in READ}
        self.revision = 0
        """Counts the changes."""

    def count(self, stream: Stream, player: PlayerId, tallies: Iterable[tuple[PlayerId, Tally]]) -> None:
        """Count tallies of the player against others, each with the opponent; self-play is no entry."""
        played = [(opponent, tally) for opponent, tally in tallies if tally.games and opponent != player]
        for opponent, tally in played:
            self._streams[stream].update(
                player,
                opponent,
                tally.wins,
                tally.draws,
                tally.losses,
                seat=tally.seat,
                opponent_seat=tally.opponent_seat,
                earned=tally.earned,
            )
        self.revision += bool(played)

    def inherit(self, *, child: PlayerId, parent: PlayerId) -> None:
        """Give a snapshot its parent's results."""
        for payoff in self._streams.values():
            payoff.inherit(child, parent)
        self.revision += 1

    def games(self, stream: Stream, player: PlayerId, opponent: PlayerId) -> int:
        """Games between the two in one stream."""
        return self._streams[stream].raw_games(player, opponent)

    def view(self) -> Payoff:
        """The sum of the streams, as the league's rules read it."""
        sums: dict[Place, Cell] = {}
        for payoff in self._streams.values():
            for entry in payoff.entries():
                if entry.player < entry.opponent:  # a table is filled in both directions from either one
                    place = (entry.player, entry.opponent, entry.seat, entry.opponent_seat)
                    sums[place] = _sum(sums[place], entry.cell) if place in sums else entry.cell
        entries = (
            PayoffEntry(player=player, opponent=opponent, seat=seat, opponent_seat=other, cell=cell)
            for (player, opponent, seat, other), cell in sums.items()
        )
        return Payoff.from_entries(entries, decay=self._decay, min_games=self._min_games)


def _sum(one: Cell, other: Cell) -> Cell:
    earned = None
    if one.earned is not None and other.earned is not None:
        earned = Earned(one.earned.own + other.earned.own, one.earned.other + other.earned.other)
    return Cell(
        one.wins + other.wins, one.draws + other.draws, one.losses + other.losses, one.games + other.games, earned
    )
