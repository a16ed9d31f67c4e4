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
    """One comparison of two sides: one game, or in one-seat games the two games of the same seed."""

    pair: int
    seat: int
    seed: int
    score: float
    """The first side's score: 1, 1/2 or 0 by final order; with more than two seats, the mean over all opponents."""
    moves: list[int]
    opening: int
    results: dict[tuple[int, int], Results]
    """Results by the seats of the first and the second side; empty in one-seat games."""

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
    """Pairs by the first side's mean score 0, 1/4, 1/2, 3/4, 1; exact in games of one or two seats."""
    counts = [0, 0, 0, 0, 0]
    for _, pair in groupby(found, key=lambda contest: contest.pair):
        scores = [contest.score for contest in pair]
        counts[round(4 * sum(scores) / len(scores))] += 1
    return tuple(counts)


def count_distinct_games(found: Sequence[Contest]) -> int:
    """The number of distinct games: by their moves and the first side's seat."""
    return len({(contest.seat, tuple(contest.moves)) for contest in found})


def longest_opening(found: Sequence[Contest]) -> int:
    """The most random plies that a game started with; games that a longer opening would have ended have fewer."""
    return max((contest.opening for contest in found), default=0)


def seat_results(found: Sequence[Contest]) -> dict[tuple[int, int], Results]:
    """Results of the first side and returns of both sides, by the seats of both."""
    by_seats: dict[tuple[int, int], list[Results]] = {}
    for contest in found:
        for seats, results in contest.results.items():
            by_seats.setdefault(seats, []).append(results)
    return {seats: Results.sum_of(several) for seats, several in by_seats.items()}


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
    if any(len(game.seating) == 1 for game in games):
        yield _one_seat_contest(games)
        return
    for game in games:
        yield _shared_table_contest(game)


def _one_seat_contest(games: list[PlayedGame]) -> Contest:
    """Each side plays the same seed by itself; the higher return wins."""
    by_side = {game.seating[0]: game for game in games}
    if set(by_side) != {FIRST, SECOND}:
        raise Conflict("a pair of games of one seat needs one game of each side")
    first, second = by_side[FIRST], by_side[SECOND]
    return Contest(
        pair=first.pair,
        seat=0,
        seed=first.seed,
        score=_score(first.returns[0], second.returns[0]),
        moves=first.moves,
        opening=first.opening,
        results={},
    )


def _shared_table_contest(game: PlayedGame) -> Contest:
    results: dict[tuple[int, int], Results] = {}
    scores = []
    for seat, side in enumerate(game.seating):
        for other, opponent in enumerate(game.seating):
            if (side, opponent) == (FIRST, SECOND):
                earned = Earned(game.returns[seat], game.returns[other])
                score = _score(earned.own, earned.other)
                scores.append(score)
                results[seat, other] = Results(wins=score == 1, draws=score == 0.5, losses=score == 0, earned=earned)
    if not scores:
        raise Conflict(f"game {game.pair} (seed {game.seed}) was not played by both sides: {game.seating}")
    return Contest(
        pair=game.pair,
        seat=game.seating.index(FIRST),
        seed=game.seed,
        score=sum(scores) / len(scores),
        moves=game.moves,
        opening=game.opening,
        results=results,
    )


def _score(mine: float, theirs: float) -> float:
    return ((mine > theirs) - (mine < theirs) + 1) / 2
