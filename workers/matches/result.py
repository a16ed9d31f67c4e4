"""The result of a match: every game with its moves, and the counts for ratings and gates."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, groupby

from league.types import Earned, Tally
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
    length: int
    """Steps of the game, its opening included."""
    moves: tuple[int, ...]
    """All actions, the opening's first, in the order of the rows of each turn."""
    opening: int
    """How many of the steps were a random opening."""
    truncated: bool = False

    def seat_of(self, entrant: int) -> int:
        """The first seat this entrant sat in."""
        return self.seating.index(entrant)

    def score(self, entrant: int) -> float | None:
        """Mean of 1, 1/2, 0 over everyone else at the table by final order; None when it sat alone."""
        mine = [r for r, e in zip(self.returns, self.seating, strict=True) if e == entrant]
        others = [r for r, e in zip(self.returns, self.seating, strict=True) if e != entrant]
        if not mine or not others:
            return None
        return sum((a > b) + (a == b) / 2 for a in mine for b in others) / (len(mine) * len(others))

    def earned(self, entrant: int) -> float | None:
        """The mean return of the entrant's seats; None when it did not play."""
        mine = [r for r, e in zip(self.returns, self.seating, strict=True) if e == entrant]
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
        """Pairs by the first entrant's score 0, 1/4, 1/2, 3/4, 1; None unless two played in two seats."""
        if len(self.task.entrants) != 2 or len(self.games[0].seating) != 2:
            return None
        counts = Counter(round(2 * sum(game.score(0) or 0.0 for game in pair)) for pair in self.pairs())
        return counts[0], counts[1], counts[2], counts[3], counts[4]

    def mean_score(self, entrant: int = 0) -> float | None:
        """The entrant's mean score over all games; None in games of one seat."""
        scores = [score for game in self.games if (score := game.score(entrant)) is not None]
        return sum(scores) / len(scores) if scores else None

    def mean_return(self, entrant: int = 0) -> float | None:
        """What the entrant earned a game."""
        earned = [value for game in self.games if (value := game.earned(entrant)) is not None]
        return sum(earned) / len(earned) if earned else None

    def tallies(self) -> tuple[Tally, ...]:
        """Wins, draws, losses and returns per pair of entrants and seat of the first, from the first one's view.

        With more than two seats, seats are compared two by two by final order. One-seat games give none.
        """
        counts: Counter[tuple[int, int, int, int]] = Counter()
        earned: dict[tuple[int, int, int], list[tuple[float, float]]] = {}
        for game in self.games:
            for a, b in combinations(range(len(self.task.entrants)), 2):
                for seat, other in game_seats(game, a, b):
                    mine, theirs = game.returns[seat], game.returns[other]
                    counts[a, b, seat, (mine > theirs) - (mine < theirs)] += 1
                    earned.setdefault((a, b, seat), []).append((mine, theirs))
        return tuple(
            Tally(
                learner=self.task.entrants[a].id,
                opponent=self.task.entrants[b].id,
                seat=seat,
                wins=counts[a, b, seat, 1],
                draws=counts[a, b, seat, 0],
                losses=counts[a, b, seat, -1],
                earned=Earned(*map(math.fsum, zip(*both, strict=True))),
            )
            for (a, b, seat), both in sorted(earned.items())
        )


def game_seats(game: GameRecord, a: int, b: int) -> Iterator[tuple[int, int]]:
    """Every (seat of a, seat of b) of one game."""
    for seat, entrant in enumerate(game.seating):
        for other, opponent in enumerate(game.seating):
            if entrant == a and opponent == b:
                yield seat, other
