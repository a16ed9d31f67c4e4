"""Counts the games of teams that the learner shares with a mate, by line-up: they count for no player's payoff.

See docs/decisions/teams.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from league.payoff import Returns
from workers.rollout.seating import LEARNER, MATE, Seating


@dataclass(frozen=True, kw_only=True)
class Lineup:
    """Who sits in the learner's team (in the order of its seats), against which opponent, in which team."""

    players: tuple[int, ...]
    """LEARNER, or the mate's number, in each seat of the team."""
    opponent: int
    """LEARNER where all other teams are the learner's."""
    team: int


@dataclass(frozen=True, kw_only=True)
class MixedCount:
    """The games of one line-up against one other team; in a game of one team, its returns."""

    lineup: Lineup
    other: int | None
    """The other's team; None in a game of one team."""
    outcomes: tuple[int, int, int]
    """Wins, draws and losses."""
    earned: tuple[float, float]
    """Summed returns of the line-up and of the other team."""
    returns: Returns | None = None


class MixedTally:
    """The line-ups of a seating's mixed tables, and their results."""

    def __init__(self, seating: Seating) -> None:
        self._teams = max(seating.teams) + 1
        self._lineups: list[Lineup] = []
        self._lineup_of = np.full(len(seating.owner), -1)
        found: dict[Lineup, int] = {}
        for table in np.flatnonzero((seating.owner == MATE).any(axis=1)).tolist():
            lineup = _lineup(seating, table)
            self._lineup_of[table] = found.setdefault(lineup, len(found))
        self._lineups = list(found)
        self._own_team = np.array([lineup.team for lineup in self._lineups], np.int64)
        self._outcomes = np.zeros((len(found), self._teams, 3), np.int64)
        self._earned = np.zeros((len(found), self._teams, 2), np.float64)
        self._returns = [Returns() for _ in found]

    def count(self, tables: NDArray[np.int64], returns: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Count the mixed ones of these tables' games, whose teams earned `returns`; says which are not mixed."""
        lineup = self._lineup_of[tables]
        mixed = lineup >= 0
        at, earned = lineup[mixed], returns[mixed]
        if self._teams == 1:
            for number in np.unique(at).tolist():
                self._returns[number] = self._returns[number].plus(earned[at == number, 0])
            return ~mixed
        own = earned[np.arange(len(at)), self._own_team[at]]
        for other in range(self._teams):
            games = np.flatnonzero(self._own_team[at] != other)
            ahead = np.sign(own[games] - earned[games, other]).astype(np.int64)
            # sign 1, 0, -1 is column 0, 1, 2: wins, draws, losses
            np.add.at(self._outcomes[:, other], (at[games], 1 - ahead), 1)
            np.add.at(self._earned[:, other, 0], at[games], own[games])
            np.add.at(self._earned[:, other, 1], at[games], earned[games, other])
        return ~mixed

    def counts(self) -> tuple[MixedCount, ...]:
        """Every line-up that has finished a game, against each other team."""
        if self._teams == 1:
            alone = zip(self._lineups, self._returns, strict=True)
            return tuple(
                MixedCount(lineup=lineup, other=None, outcomes=(0, 0, 0), earned=(0.0, 0.0), returns=returns)
                for lineup, returns in alone
                if returns.games
            )
        return tuple(
            MixedCount(
                lineup=self._lineups[number],
                other=other,
                outcomes=tuple(self._outcomes[number, other].tolist()),
                earned=tuple(self._earned[number, other].tolist()),
            )
            for number, other in np.argwhere(self._outcomes.sum(2) > 0).tolist()
        )


def _lineup(seating: Seating, table: int) -> Lineup:
    assert seating.mates is not None
    owner, mate = seating.owner[table], int(seating.mates[table])
    team = seating.teams[int(np.argmax(owner == MATE))]
    seats = [seat for seat, of in enumerate(seating.teams) if of == team]
    opponents = owner[owner >= 0]
    return Lineup(
        players=tuple(LEARNER if owner[seat] == LEARNER else mate for seat in seats),
        opponent=int(opponents[0]) if len(opponents) else LEARNER,
        team=team,
    )
