"""Scores of a population's members, from the games of their newest generations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from league.payoff.returns import Returns
from league.populations.selection import Score
from league.types import PlayerId


@dataclass(frozen=True)
class WinDrawLoss:
    """Results against one opponent."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def rate(self) -> float:
        """Draws count as half a win."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def variance(self) -> float:
        """Of the rate. One win and one loss are added, so that a series without a loss is not certain."""
        games, points = self.games + 2, self.wins + self.draws / 2 + 1
        mean = points / games
        squares = (self.wins + 1) * (1 - mean) ** 2 + self.draws * (0.5 - mean) ** 2 + (self.losses + 1) * mean**2
        return squares / games / games

    def plus(self, other: WinDrawLoss) -> WinDrawLoss:
        """Both results together."""
        return WinDrawLoss(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)


def return_scores(played: Mapping[PlayerId, Returns], names: Mapping[PlayerId, str], min_games: int) -> list[Score]:
    """The mean return of each member with at least `min_games` games."""
    return [
        Score(
            member=member,
            name=names[member],
            value=returns.mean,
            error=math.sqrt(returns.deviations / (returns.games - 1) / returns.games),
            games=returns.games,
            small_sample=True,
        )
        for member, returns in played.items()
        if returns.games >= max(2, min_games)
    ]


def win_rate_scores(
    played: Mapping[PlayerId, Mapping[PlayerId, WinDrawLoss]], names: Mapping[PlayerId, str], min_games: int
) -> tuple[list[Score], list[PlayerId]]:
    """Each member's mean win rate over the opponents that all of them have met in `min_games` games, and these.

    Members meet different opponents, and one that meets harder ones would look worse. A member that has met nobody so
    often is left out.
    """
    met = {
        member: {opponent for opponent, results in against.items() if results.games >= max(1, min_games)}
        for member, against in played.items()
    }
    met = {member: opponents for member, opponents in met.items() if opponents}
    common = sorted(set.intersection(*met.values())) if met else []
    if not common:
        return [], []
    return [_win_rate(member, names[member], [played[member][each] for each in common]) for member in met], common


def _win_rate(member: PlayerId, name: str, results: list[WinDrawLoss]) -> Score:
    return Score(
        member=member,
        name=name,
        value=sum(result.rate for result in results) / len(results),
        error=math.sqrt(sum(result.variance for result in results)) / len(results),
        games=sum(result.games for result in results),
    )
