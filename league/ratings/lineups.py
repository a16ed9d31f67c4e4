"""Skill of line-ups from sums of results, by openskill's Plackett-Luce model: each line-up is a competitor of its own.

A line-up names the player in each seat of a team. The results of a mixed line-up say little about its players, so it
has a rating of its own; a line-up of one player has that player's. See docs/decisions/teams.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from league.errors import InvalidInput
from league.ratings.plackett_luce import Skill, TeamMatch, team_skills

MOST_GAMES = 10
"""Of one sum. The model learns game by game: thousands of games of one generation would forget all before them."""
_WON, _DREW, _LOST = (1, 2), (1, 1), (2, 1)


@dataclass(frozen=True, kw_only=True)
class LineupResult:
    """What one line-up won, drew and lost against another, in some span of time."""

    lineup: Hashable
    opponent: Hashable
    wins: int
    draws: int
    losses: int

    def __post_init__(self) -> None:
        if min(self.wins, self.draws, self.losses) < 0 or self.lineup == self.opponent:
            raise InvalidInput(f"two different line-ups and counts from 0 on, got {self!r}")


def lineup_skills(results: Iterable[LineupResult]) -> dict[Hashable, Skill]:
    """Skills after the results, in their order; each counts as MOST_GAMES games at most, in its shares."""
    return team_skills(match for result in results for match in _matches(result))


def _matches(result: LineupResult) -> Iterator[TeamMatch]:
    """The games of a sum, with wins, draws and losses spread evenly, since their order is not known."""
    counts = _thinned((result.wins, result.draws, result.losses))
    places = [
        ((number + 0.5) / count, outcome)
        for outcome, count in zip((_WON, _DREW, _LOST), counts, strict=True)
        for number in range(count)
    ]
    for _, outcome in sorted(places):
        yield TeamMatch(((result.lineup,), (result.opponent,)), outcome)


def _thinned(counts: tuple[int, int, int]) -> list[int]:
    """At most MOST_GAMES of these, in their shares, by the largest remainder."""
    games = sum(counts)
    if games <= MOST_GAMES:
        return list(counts)
    kept = [count * MOST_GAMES // games for count in counts]
    largest = sorted(range(3), key=lambda each: counts[each] * MOST_GAMES % games, reverse=True)
    for each in largest[: MOST_GAMES - sum(kept)]:
        kept[each] += 1
    return kept
