"""Counts results and returns per opponent and team, from rewards and ends of games.

See docs/decisions/rollouts-and-matches.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from league.payoff import Returns
from workers.rollout.mixed_tally import MixedCount, MixedTally
from workers.rollout.seating import LEARNER, Seating
from workers.user_errors import NotFinite


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What was played: [opponents, own team, other's team, (wins, draws, losses)], and sums over the games.

    Where each seat is a team of its own, a team's number is its seat's.
    """

    outcomes: NDArray[np.int64]
    earned: NDArray[np.float64]
    """[opponents, own team, other's team, (own, other's)]: returns in the same games, summed."""
    single_team_returns: Returns | None
    """Returns of a game of one team; None in games of more teams."""
    games: int
    steps: int
    """Steps of the games that ended, summed."""
    returns: float
    """Returns of the learning teams in those games, summed; with `teams_played` this gives their mean."""
    teams_played: int
    mixed: tuple[MixedCount, ...] = ()
    """Games in which the learner shared its team with a mate: no part of `outcomes`, `earned` and the returns."""
    metrics: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    """Further metrics, each a sum and the number of games that it is of; 0 for a count."""


class TallyBoard:
    """Follows every table's returns and counts each finished game once, from the learning team's view.

    A team's return is the sum of its seats'. A game of the learner against itself is no result. With more than two
    teams the learner's is compared with each other team at the table by final order. Teams that the learner shares with
    a mate are counted by themselves.
    """

    def __init__(self, seating: Seating) -> None:
        tables, seats = seating.owner.shape
        teams = max(seating.teams) + 1
        self._seats_of = [np.flatnonzero(np.asarray(seating.teams) == team) for team in range(teams)]
        self._teams_differ = tuple(seating.teams) != tuple(range(seats))
        """Whether a team is something else than its seat."""
        self._owner = np.stack([seating.owner[:, sat[0]] for sat in self._seats_of], axis=1)
        """[tables, teams]: all seats of a team have one owner, except where the learner has a mate."""
        self._mixed = None if seating.mates is None else MixedTally(seating)
        self._returns = np.zeros((tables, seats), np.float64)
        self._length = np.zeros(tables, np.int64)
        self._outcomes = np.zeros((int(seating.owner.max()) + 1, teams, teams, 3), np.int64)
        self._earned = np.zeros((*self._outcomes.shape[:3], 2), np.float64)
        self._single_team_returns = Returns() if teams == 1 else None
        # a game of one team has its result in its return; live self-play has none
        self._rated = (seating.owner != LEARNER).any(axis=1) | (teams == 1)
        self._self_play_only = not (seating.owner != LEARNER).any()
        self._closing = self._first_only = False
        self._waiting = np.zeros(tables, np.bool_)
        self._games = self._steps = self._teams_played = 0
        self._sum = 0.0

    def step(self, rewards: NDArray[np.float32], done: NDArray[np.bool_]) -> None:
        """Add one step of all tables."""
        self._returns += rewards
        self._length += 1
        over = done.nonzero()[0]
        if len(over):
            self._finish(over)

    def count_only_running_games(self) -> None:
        """From here on count, at each table whose games have results, only the game now under way."""
        if not self._closing:
            self._closing = True
            running = self._rated & (self._length > 0)
            self._waiting = self._waiting & running if self._first_only else running

    def restart(self) -> None:
        """All games begin anew; from here on count only the first one at each table."""
        self._returns[:] = 0.0
        self._length[:] = 0
        self._first_only = True
        self._waiting[:] = True

    @property
    def waiting(self) -> int:
        """Tables whose last counted game is still being played."""
        return int(self._waiting.sum())

    def finish(self, table: int, returns: NDArray[np.float64], length: int) -> None:
        """Count one whole game of this table's matchup that was played elsewhere."""
        self._returns[table], self._length[table] = returns, length
        self._finish(np.array([table]))

    def counts(self, metrics: Mapping[str, tuple[float, int]] | None = None) -> Counts:
        """What was counted so far; raises NotFinite if a team's return was not finite."""
        if not np.isfinite(self._sum + self._earned.sum()):
            raise NotFinite("the return of a game is not finite: the game gave a reward that is NaN or infinite")
        return Counts(
            outcomes=self._outcomes.copy(),
            earned=self._earned.copy(),
            single_team_returns=self._single_team_returns,
            games=self._games,
            steps=self._steps,
            returns=self._sum,
            teams_played=self._teams_played,
            mixed=() if self._mixed is None else self._mixed.counts(),
            metrics=metrics or {},
        )

    def _finish(self, tables: NDArray[np.int64]) -> None:
        counted = tables[self._waiting[tables]] if self._closing or self._first_only else tables
        if len(counted):
            self._waiting[counted] = False
            returns = self._returns[counted]
            if self._teams_differ:
                returns = np.stack([returns[:, sat].sum(axis=1) for sat in self._seats_of], axis=1)
            pure = slice(None) if self._mixed is None else self._mixed.count(counted, returns)
            self._count(self._owner[counted[pure]], returns[pure])
            self._games += len(counted)
            self._steps += int(self._length[counted].sum())
        self._returns[tables] = 0.0
        self._length[tables] = 0

    def _count(self, owner: NDArray[np.int64], returns: NDArray[np.float64]) -> None:
        teams = owner.shape[1]
        if self._self_play_only and teams > 1:
            self._sum += float(returns.reshape(-1).sum())
            self._teams_played += owner.size
            return
        learning = owner == LEARNER
        self._sum += float(returns[learning].sum())
        self._teams_played += int(learning.sum())
        if self._single_team_returns is not None:
            self._single_team_returns = self._single_team_returns.plus(returns[:, 0])
        for mine in range(teams):
            for other in range(teams):
                games = learning[:, mine] & ~learning[:, other]
                if mine == other or not games.any():
                    continue
                opponent, both = owner[games, other], returns[games][:, [mine, other]]
                ahead = np.sign(both[:, 0] - both[:, 1]).astype(np.int64)
                # sign 1, 0, -1 is column 0, 1, 2: wins, draws, losses
                np.add.at(self._outcomes, (opponent, mine, other, 1 - ahead), 1)
                for side in range(2):
                    sums = np.bincount(opponent, weights=both[:, side], minlength=len(self._earned))
                    self._earned[:, mine, other, side] += sums
