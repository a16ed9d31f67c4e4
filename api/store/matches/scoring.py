"""Scores played games from the first side's view: contests, counts of pairs, and rows of matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from api.schemas.enums import MatchResult
from api.store.core.errors import Conflict
from api.store.payoffs.cells import Results
from api.store.tables import ModelVersion
from league.types import Earned, Stream
from orchestrator.contracts.play import PlayedGame

FIRST, SECOND = 0, 1


@dataclass(frozen=True, kw_only=True)
class Contest:
    """One comparison of two sides: one game, or in games of one team the two games of the same seed."""

    pair: int
    seat: int
    """The first side's team; where each seat is a team of its own, its seat."""
    seed: int
    score: float
    """The first side's score: 1, 1/2 or 0 by final order; with more than two teams, the mean over all others."""
    moves: list[int]
    opening: int
    results: dict[tuple[int, int], Results]
    """Results by the teams of the first and the second side; empty in games of one team."""

    @property
    def result(self) -> MatchResult:
        if self.score == 0.5:
            return MatchResult.DRAW
        return MatchResult.WIN if self.score > 0.5 else MatchResult.LOSS


def score_games(games: Iterable[PlayedGame], pairs: int) -> list[Contest]:
    """The contests of a batch; Conflict unless it has exactly this many pairs."""
    found = []
    numbers = []
    for number, pair in groupby(sorted(games, key=lambda game: game.pair), key=lambda game: game.pair):
        numbers.append(number)
        found += list(_contests_of_pair(list(pair)))
    if numbers != list(range(pairs)):
        raise Conflict(f"a batch of {pairs} pairs must have games of each pair, got {len(numbers)} pairs")
    return found


def pentanomial(found: Sequence[Contest]) -> tuple[int, ...]:
    """Pairs by the first side's mean score 0, 1/4, 1/2, 3/4, 1; exact in games of one or two teams."""
    counts = [0, 0, 0, 0, 0]
    for _, pair in groupby(found, key=lambda contest: contest.pair):
        scores = [contest.score for contest in pair]
        counts[round(4 * sum(scores) / len(scores))] += 1
    return tuple(counts)


def count_distinct_games(found: Sequence[Contest]) -> int:
    """The number of distinct games: by moves, or seeds where these are unknown, and the first side's team."""
    return len({(contest.seat, tuple(contest.moves) or contest.seed) for contest in found})


def longest_opening(found: Sequence[Contest]) -> int:
    """The most random plies that a game started with; games that a longer opening would have ended have fewer."""
    return max((contest.opening for contest in found), default=0)


def results_by_team(found: Sequence[Contest]) -> dict[tuple[int, int], Results]:
    """Results of the first side and returns of both sides, by the teams of both."""
    by_teams: dict[tuple[int, int], list[Results]] = {}
    for contest in found:
        for teams, results in contest.results.items():
            by_teams.setdefault(teams, []).append(results)
    return {teams: Results.sum_of(several) for teams, several in by_teams.items()}


def match_row(contest: Contest, first: ModelVersion, second: ModelVersion, **occasion: Any) -> dict[str, Any]:
    """The contest as a row of matches."""
    return {
        "stream": Stream.GATING if "gate_id" in occasion else Stream.RATING,
        "seat": contest.seat,
        "seed": contest.seed,
        "player_id": first.player_id,
        "version_id": first.id,
        "opponent_id": second.player_id,
        "opponent_version_id": second.id,
        "result": contest.result,
        "moves": contest.moves,
        "opening": {"plies": contest.opening} if contest.opening else None,
        **occasion,
    }


def _contests_of_pair(games: list[PlayedGame]) -> Iterator[Contest]:
    if any(len(game.sides) == 1 for game in games):
        yield _one_team_contest(games)
        return
    for game in games:
        yield _shared_table_contest(game)


def _one_team_contest(games: list[PlayedGame]) -> Contest:
    """Each side plays the same seed by itself; the higher return wins."""
    by_side = {game.sides[0].entrant: game for game in games}
    if set(by_side) != {FIRST, SECOND}:
        raise Conflict("a pair of games of one team needs one game of each side")
    first, second = by_side[FIRST], by_side[SECOND]
    return Contest(
        pair=first.pair,
        seat=0,
        seed=first.seed,
        score=_score(first.sides[0].earned, second.sides[0].earned),
        moves=first.moves,
        opening=first.opening,
        results={},
    )


def _shared_table_contest(game: PlayedGame) -> Contest:
    results: dict[tuple[int, int], Results] = {}
    scores = []
    for team, side in enumerate(game.sides):
        for other, opponent in enumerate(game.sides):
            if (side.entrant, opponent.entrant) == (FIRST, SECOND):
                earned = Earned(side.earned, opponent.earned)
                score = _score(earned.own, earned.other)
                scores.append(score)
                results[team, other] = Results(wins=score == 1, draws=score == 0.5, losses=score == 0, earned=earned)
    if not scores:
        raise Conflict(f"game {game.pair} (seed {game.seed}) was not played by both sides: {game.seating}")
    return Contest(
        pair=game.pair,
        seat=[side.entrant for side in game.sides].index(FIRST),
        seed=game.seed,
        score=sum(scores) / len(scores),
        moves=game.moves,
        opening=game.opening,
        results=results,
    )


def _score(mine: float, theirs: float) -> float:
    return ((mine > theirs) - (mine < theirs) + 1) / 2
