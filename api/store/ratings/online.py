"""Online ratings: Elo and openskill, updated game by game in the order in which the games were recorded.

Each fit continues from the one before it: the stored ratings are the whole state of these methods, so no game is read
twice. The result is the same as from all games, except for policies that the Bradley-Terry fit over the same games left
out: they start again if they play again.

See docs/decisions/ratings.md.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, insert, select
from sqlalchemy.orm import Session, aliased

from api.schemas.enums import MatchResult, RatingMethod
from api.store.core.errors import NotFound
from api.store.core.ids import new_id
from api.store.ratings.bradley_terry import policies_of
from api.store.tables import Match, ModelVersion, Rating, RatingFit, Tournament, Trial
from league.ratings import Skill, TeamMatch, elo_online, team_skills
from league.types import Stream

READ_AT_ONCE: Final = 10_000
K: Final = 16.0
_SCORE = {MatchResult.WIN: 1.0, MatchResult.DRAW: 0.5, MatchResult.LOSS: 0.0}


@dataclass(frozen=True, kw_only=True)
class ScoredGame:
    """One game between two policies, and the first one's score."""

    first: str
    second: str
    score: float


@dataclass(frozen=True, kw_only=True)
class PolicyRating:
    """The state that a method keeps for a policy."""

    value: float
    deviation: float | None
    games: int


PolicyRatings = dict[str, PolicyRating]


@dataclass(frozen=True, kw_only=True)
class OnlineMethod:
    """How a method updates ratings, and the settings that its fits record."""

    update: Callable[[PolicyRatings, list[ScoredGame]], PolicyRatings]
    measure: Callable[[PolicyRating], float]
    """The value that ranks are computed from."""
    large_tables: bool
    """Whether games of three seats or more count."""
    settings: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class OnlineRatings:
    """The ratings after all games up to a match."""

    by_policy: PolicyRatings
    games: int
    last_match_id: int


NO_RATINGS: Final = OnlineRatings(by_policy={}, games=0, last_match_id=0)


def rate_online_after_tournament(session: Session, tournament_id: str) -> None:
    """Update the online ratings once after a tournament, over the games that its Bradley-Terry fit saw.

    In a separate transaction without a lock on the matches: no game can be added to those that the fit saw.
    """
    if session.get(Tournament, tournament_id, with_for_update={"key_share": True}) is None:
        raise NotFound(f"there is no tournament {tournament_id}")
    fits = select(RatingFit).where(RatingFit.tournament_id == tournament_id)
    known = {fit.method: fit for fit in session.scalars(fits)}
    if RatingMethod.BRADLEY_TERRY in known and not known.keys() & METHODS.keys():
        rate_online(session, known[RatingMethod.BRADLEY_TERRY])


def rate_online(session: Session, base: RatingFit) -> None:
    """Store the ratings of each method over the games that the Bradley-Terry fit saw, for the versions it rates."""
    rated = policies_of(session, set(session.scalars(select(Rating.version_id).where(Rating.fit_id == base.id))))
    for method in METHODS:
        before = _newest_before(session, base, method)
        after = update_from_games(session, base, method, before)
        if after.by_policy:
            _keep(session, base, method, after, rated)


def update_from_games(session: Session, fit: RatingFit, method: RatingMethod, before: OnlineRatings) -> OnlineRatings:
    """The ratings after the games that the fit saw, continued from earlier ratings."""
    rule = METHODS[method]
    by_policy, games = before.by_policy, before.games
    for chunk in _games_in_order(session, fit, before.last_match_id, large_tables=rule.large_tables):
        by_policy = rule.update(by_policy, chunk)
        games += len(chunk)
    return OnlineRatings(by_policy=by_policy, games=games, last_match_id=fit.last_match_id)


def _newest_before(session: Session, fit: RatingFit, method: RatingMethod) -> OnlineRatings:
    """The newest ratings over a part of the games that the fit saw."""
    query = select(RatingFit).where(
        RatingFit.project_id == fit.project_id,
        RatingFit.game == fit.game,
        RatingFit.method == method,
        RatingFit.last_match_id <= fit.last_match_id,
        # ratings with other settings cannot be continued
        RatingFit.settings == dict(METHODS[method].settings),
    )
    newest = session.scalars(query.order_by(RatingFit.last_match_id.desc(), RatingFit.id.desc()).limit(1)).one_or_none()
    if newest is None:
        return NO_RATINGS
    places = session.scalars(select(Rating).where(Rating.fit_id == newest.id)).all()
    policies = policies_of(session, {place.version_id for place in places})
    by_policy = {
        policies[place.version_id]: PolicyRating(value=place.value, deviation=place.deviation, games=place.games)
        for place in places
    }
    return OnlineRatings(by_policy=by_policy, games=newest.games, last_match_id=newest.last_match_id)


def _games_in_order(session: Session, fit: RatingFit, after: int, *, large_tables: bool) -> Iterator[list[ScoredGame]]:
    """The rating games that the fit saw after a match, in chunks, without games of a policy against itself."""
    version = aliased(ModelVersion)
    query = (
        select(Match.id, Match.version_id, Match.opponent_version_id, Match.result)
        .join(version, version.id == Match.version_id)
        .join(Trial, Trial.id == version.trial_id)
        .where(Match.stream == Stream.RATING, Trial.project_id == fit.project_id, Trial.game == fit.game)
        .where(Match.id <= fit.last_match_id)
        .order_by(Match.id)
        .limit(READ_AT_ONCE)
    )
    if not large_tables:
        query = query.where(~_at_large_table())
    policies: dict[str, str] = {}
    while rows := session.execute(query.where(Match.id > after)).all():
        named = {version_id for row in rows for version_id in row[1:3]}
        policies |= policies_of(session, named - policies.keys())
        sides = [(policies[first], policies[second], _SCORE[result]) for _, first, second, result in rows]
        yield [ScoredGame(first=a, second=b, score=score) for a, b, score in sides if a != b]
        after = rows[-1][0]


def _at_large_table() -> ColumnElement[bool]:
    """Whether the game has three seats or more: in every pairing the first side takes each seat in turn."""
    other = aliased(Match)
    same = (other.tournament_id == Match.tournament_id) & (other.round == Match.round) & (other.pair == Match.pair)
    return select(other.id).where(same, other.seat >= 2).exists()


def _keep(
    session: Session, base: RatingFit, method: RatingMethod, found: OnlineRatings, rated: Mapping[str, str]
) -> None:
    rule = METHODS[method]
    fit_id = new_id()
    session.execute(
        insert(RatingFit).values(
            id=fit_id,
            project_id=base.project_id,
            game=base.game,
            method=method,
            tournament_id=base.tournament_id,
            games=found.games,
            last_match_id=found.last_match_id,
            settings=dict(rule.settings),
        )
    )
    present = set(rated.values())
    measures = {policy: rule.measure(kept) for policy, kept in found.by_policy.items() if policy in present}
    ascending = sorted(measures.values())
    rows = [
        {
            "fit_id": fit_id,
            "version_id": version,
            "value": found.by_policy[policy].value,
            "deviation": found.by_policy[policy].deviation,
            "games": found.by_policy[policy].games,
            "rank": 1 + len(ascending) - bisect_right(ascending, measures[policy]),
            "prior": False,
        }
        for version, policy in sorted(rated.items())
        if policy in measures
    ]
    session.execute(insert(Rating), rows)


def _update_elo(before: PolicyRatings, games: list[ScoredGame]) -> PolicyRatings:
    values = {policy: standing.value for policy, standing in before.items()}
    live = elo_online([(game.first, game.second, game.score) for game in games], k=K, ratings=values)
    played = _played(before, games)
    return {
        policy: PolicyRating(value=value, deviation=None, games=played[policy])
        for policy, value in live.ratings.items()
    }


def _update_openskill(before: PolicyRatings, games: list[ScoredGame]) -> PolicyRatings:
    known = {policy: Skill(standing.value, standing.deviation or 0.0) for policy, standing in before.items()}
    matches = (TeamMatch(((game.first,), (game.second,)), _places(game.score)) for game in games)
    played = _played(before, games)
    return {
        policy: PolicyRating(value=skill.mu, deviation=skill.sigma, games=played[policy])
        for policy, skill in team_skills(matches, known).items()
    }


def _places(score: float) -> tuple[int, int]:
    return (1, 1) if score == 0.5 else (1, 2) if score > 0.5 else (2, 1)


def _played(before: PolicyRatings, games: list[ScoredGame]) -> Counter[str]:
    played = Counter({policy: standing.games for policy, standing in before.items()})
    played.update(side for game in games for side in (game.first, game.second))
    return played


IN_ORDER: Final = "live: depends on the order of games, which is the one in which they were recorded"
METHODS: Final[Mapping[RatingMethod, OnlineMethod]] = {
    RatingMethod.ELO_ONLINE: OnlineMethod(
        update=_update_elo,
        measure=lambda standing: standing.value,
        large_tables=False,
        settings={"unit": "elo", "k": K, "start": 0.0, "seats": "at most 2", "label": IN_ORDER},
    ),
    RatingMethod.OPENSKILL: OnlineMethod(
        update=_update_openskill,
        measure=lambda standing: Skill(standing.value, standing.deviation or 0.0).ordinal,
        large_tables=True,
        settings={"unit": "mu", "model": "plackett_luce", "ranks_by": "mu - 3 sigma", "label": IN_ORDER},
    ),
}
