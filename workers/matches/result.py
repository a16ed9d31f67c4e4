"""The result of a match: every game with its moves, and the counts for ratings and gates."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, groupby

from league.types import Earned, Tally
from orchestrator.contracts.play import TeamResult, team_results
from workers.matches.task import MatchTask


@dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One game. `workers.games.replay.replay` shows it again from its seed and moves."""

    pair: int
    seating: tuple[int, ...]
    """The entrant (by its number in the task) in each seat."""
    seed: int
    """The game's own seed, shared within the pair."""
    returns: tuple[float, ...]
    """What each seat earned."""
    teams: tuple[int, ...] = ()
    """The team of each seat; empty where each seat is a team of its own."""
    length: int
    """Steps of the game, its opening included."""
    moves: tuple[int, ...]
    """All actions, the opening's first, in the order of the rows of each turn."""
    opening: int
    """How many of the steps were a random opening."""
    truncated: bool = False

    @cached_property
    def sides(self) -> tuple[TeamResult, ...]:
        """Every team's entrant and return, in the order of the teams."""
        return team_results(self.seating, self.returns, self.teams)

    def seat_of(self, entrant: int) -> int:
        """The first seat this entrant sat in."""
        return self.seating.index(entrant)

    def score(self, entrant: int) -> float | None:
        """Mean of 1, 1/2, 0 over all other teams by final order; None when the entrant sat alone."""
        mine = [side.earned for side in self.sides if side.entrant == entrant]
        others = [side.earned for side in self.sides if side.entrant != entrant]
        if not mine or not others:
            return None
        return sum((a > b) + (a == b) / 2 for a in mine for b in others) / (len(mine) * len(others))

    def earned(self, entrant: int) -> float | None:
        """The mean return of the entrant's teams; None when it did not play."""
        mine = [side.earned for side in self.sides if side.entrant == entrant]
        return sum(mine) / len(mine) if mine else None


@dataclass(frozen=True, kw_only=True)
class MatchResult:
    """All games of a match, pair by pair."""

    task: MatchTask
    games: tuple[GameRecord, ...]

    def pairs(self) -> Iterator[tuple[GameRecord, ...]]:
        """The games of each seed together."""
        for _, games in groupby(self.games, key=lambda game: game.pair):
            yield tuple(games)

    @property
    def pentanomial(self) -> tuple[int, int, int, int, int] | None:
        """Pairs by the first entrant's score 0, 1/4, 1/2, 3/4, 1; None unless two played in two teams."""
        if len(self.task.entrants) != 2 or len(self.games[0].sides) != 2:
            return None
        counts = Counter(round(2 * sum(game.score(0) or 0.0 for game in pair)) for pair in self.pairs())
        return counts[0], counts[1], counts[2], counts[3], counts[4]

    def mean_score(self, entrant: int = 0) -> float | None:
        """The entrant's mean score over all games; None in games of one team."""
        scores = [score for game in self.games if (score := game.score(entrant)) is not None]
        return sum(scores) / len(scores) if scores else None

    def mean_return(self, entrant: int = 0) -> float | None:
        """What the entrant earned a game."""
        earned = [value for game in self.games if (value := game.earned(entrant)) is not None]
        return sum(earned) / len(earned) if earned else None

    def tallies(self) -> tuple[Tally, ...]:
        """Wins, draws, losses and returns per pair of entrants and team of the first, from the first one's view.

        With more than two teams, teams are compared two by two by final order. Games of one team give none.
        """
        counts: Counter[tuple[int, int, int, int]] = Counter()
        earned: dict[tuple[int, int, int], list[tuple[float, float]]] = {}
        for game in self.games:
            for a, b in combinations(range(len(self.task.entrants)), 2):
                for team, mine, theirs in _meetings(game, a, b):
                    counts[a, b, team, (mine > theirs) - (mine < theirs)] += 1
                    earned.setdefault((a, b, team), []).append((mine, theirs))
        return tuple(
            Tally(
                learner=self.task.entrants[a].id,
                opponent=self.task.entrants[b].id,
                seat=team,
                wins=counts[a, b, team, 1],
                draws=counts[a, b, team, 0],
                losses=counts[a, b, team, -1],
                earned=Earned(*map(math.fsum, zip(*both, strict=True))),
            )
            for (a, b, team), both in sorted(earned.items())
        )


def _meetings(game: GameRecord, a: int, b: int) -> Iterator[tuple[int, float, float]]:
    """Every meeting of a team of a with a team of b in one game: a's team, its return, and the other's."""
    for team, side in enumerate(game.sides):
        for other in game.sides:
            if side.entrant == a and other.entrant == b:
                yield team, side.earned, other.earned
