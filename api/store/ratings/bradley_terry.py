"""Bradley-Terry ratings over all rating games of a project's game. Each fit is stored with the games that it saw.

What is rated is a policy, not its name: versions with the same weights (a snapshot and its source, a fork and its
origin) are one, and so is a bot wherever it plays.

See docs/decisions/ratings.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from sqlalchemy import delete, func, insert, select, text
from sqlalchemy.orm import Session, aliased

from api.schemas.enums import MatchResult, RatingMethod, VersionOrigin
from api.schemas.events import RatingsFitted
from api.store.core.errors import NotFound
from api.store.core.events import NewEvent, append_events
from api.store.core.ids import new_id
from api.store.tables import Match, ModelVersion, Player, Rating, RatingCovariance, RatingFit, Tournament, Trial
from league.ratings import Ratings, bradley_terry
from league.ratings.fitted_ratings import ELO_PER_NAT
from league.types import Stream

Tallies = dict[tuple[str, str], tuple[int, int, int]]
ANCHOR = "bot:random"
NEWEST_RATED = 1000
"""The policies that played last are always rated: as many as a tournament may have entrants."""
OLDER_RATED = 200
"""The number of older policies that are rated, evenly spread, so that a fit of a long league stays fast."""
_COLUMN = {MatchResult.WIN: 0, MatchResult.DRAW: 1, MatchResult.LOSS: 2}


@dataclass(frozen=True, kw_only=True)
class RatingGames:
    """The rating games of a project's game, counted between the rated policies."""

    tallies: Tallies
    policies: dict[str, str]
    """The policy of each version that played."""
    left_out: int
    """Number of policies that are not rated because they played too long ago."""
    games: int
    last_match_id: int


def fit_after_tournament(session: Session, tournament_id: str) -> None:
    """Fit the ratings once after a tournament, with its games and all before it."""
    tournament = session.get(Tournament, tournament_id, with_for_update={"key_share": True})
    if tournament is None:
        raise NotFound(f"there is no tournament {tournament_id}")
    # no game may be added between reading the games and recording the newest of them
    session.execute(text("LOCK TABLE matches IN SHARE MODE"))
    method = RatingMethod.BRADLEY_TERRY
    known = select(RatingFit.id).where(RatingFit.tournament_id == tournament_id, RatingFit.method == method)
    if session.scalar(known) is not None:
        return
    fit_id = fit_ratings(session, tournament.project_id, tournament.game, tournament_id=tournament_id)
    if fit_id is not None:
        payload = RatingsFitted(fit_id=fit_id, method=method, tournament_id=tournament_id, tournament=tournament.name)
        append_events(session, [NewEvent(trial_id=tournament.trial_id, payload=payload)])


def fit_ratings(session: Session, project_id: str, game: str, *, tournament_id: str | None = None) -> str | None:
    """Fit and store the ratings of all policies that have played; None if none has."""
    games = rating_games(session, project_id, game)
    ratings = fit_bradley_terry(games)
    if ratings is None:
        return None
    fit_id = new_id()
    anchor = min(version for version, policy in games.policies.items() if policy == ratings.anchor)
    session.execute(
        insert(RatingFit).values(
            id=fit_id,
            project_id=project_id,
            game=game,
            method=RatingMethod.BRADLEY_TERRY,
            tournament_id=tournament_id,
            anchor_version_id=anchor,
            games=games.games,
            last_match_id=games.last_match_id,
            settings={
                "unit": "elo",
                "draws": "half",
                "policies": len(ratings.names),
                "left_out": games.left_out,
                "anchor": ratings.anchor,
            },
        )
    )
    rated = games.policies | _forks_of(session, project_id, game, games.policies)
    session.execute(insert(Rating), rating_rows(fit_id, ratings, rated))
    _keep_covariance(session, fit_id, project_id, game, ratings, rated)
    return fit_id


def rating_games(
    session: Session, project_id: str, game: str, *, up_to: int | None = None, whole: bool = False
) -> RatingGames:
    """The rating games of a project's game, up to a match if given; with `whole`, no policy is left out."""
    first, second = aliased(ModelVersion), aliased(ModelVersion)
    query = (
        select(Match.version_id, Match.opponent_version_id, Match.result, func.count(), func.max(Match.id))
        .join(first, first.id == Match.version_id)
        .join(Trial, Trial.id == first.trial_id)
        .join(second, second.id == Match.opponent_version_id)
        .where(Match.stream == Stream.RATING, Trial.project_id == project_id, Trial.game == game)
        .group_by(Match.version_id, Match.opponent_version_id, Match.result)
    )
    if up_to is not None:
        query = query.where(Match.id <= up_to)
    rows = session.execute(query).all()
    policies = policies_of(session, {version for row in rows for version in row[:2]})
    tallies: dict[tuple[str, str], list[int]] = {}
    last_played: dict[str, int] = {}
    for version, opponent, result, count, newest in rows:
        pair = policies[version], policies[opponent]
        last_played |= {policy: max(newest, last_played.get(policy, 0)) for policy in pair}
        if pair[0] != pair[1]:
            tallies.setdefault(pair, [0, 0, 0])[_COLUMN[result]] += count
    rated = set(last_played) if whole else rated_policies(last_played)
    return RatingGames(
        tallies={(a, b): (w, d, lost) for (a, b), (w, d, lost) in tallies.items() if a in rated and b in rated},
        policies={version: policy for version, policy in policies.items() if policy in rated},
        left_out=len(last_played) - len(rated),
        games=sum(row[3] for row in rows),
        last_match_id=max((row[4] for row in rows), default=0),
    )


def rates_every_policy(fit: RatingFit) -> bool:
    """Whether the Bradley-Terry fit rates every policy, as fits did before older policies were left out."""
    return "left_out" not in fit.settings


def rated_policies(last_played: Mapping[str, int]) -> set[str]:
    """The policies that a fit rates, by the newest match of each: bots, the newest ones, and some older ones."""
    newest_first = sorted(last_played, key=lambda policy: (-last_played[policy], policy))
    older = newest_first[NEWEST_RATED:]
    spread = older[:: -(-len(older) // OLDER_RATED)] if older else []
    return {*newest_first[:NEWEST_RATED], *spread, *(name for name in older if name.startswith("bot:"))}


def fit_bradley_terry(games: RatingGames) -> Ratings | None:
    """The maximum-likelihood ratings, anchored at the random bot, else at another bot that has played."""
    names = sorted(set(games.policies.values()))
    if not names:
        return None
    # the random bot first: every trial can play it, so that curves of different trials are comparable
    bots = [name for name in (ANCHOR, *names) if name.startswith("bot:") and name in names]
    return bradley_terry(names, games.tallies, anchor=bots[0] if bots else names[0])


def rating_rows(fit_id: str, ratings: Ratings, rated: Mapping[str, str]) -> list[dict[str, object]]:
    """One row for each version; versions of one policy have equal ratings. The best has rank 1."""
    elos = ratings.elos()
    games = dict(zip(ratings.names, ratings.games, strict=True))
    ranks = {name: 1 + sum(other > elos[name] for other in elos.values()) for name in ratings.names}
    return [
        {
            "fit_id": fit_id,
            "version_id": version,
            "value": elos[policy],
            "deviation": ratings.standard_error(policy, ratings.anchor),
            "games": games[policy],
            "rank": ranks[policy],
            "prior": policy in ratings.separable,
        }
        for version, policy in sorted(rated.items())
    ]


def policies_of(session: Session, versions: set[str]) -> dict[str, str]:
    """The policy of each version: the hash of its weights, or its bot."""
    rows = session.execute(
        select(ModelVersion.id, ModelVersion.sha256, Player.bot)
        .join(Player, Player.id == ModelVersion.player_id)
        .where(ModelVersion.id.in_(versions))
    )
    return {version: f"bot:{bot}" if sha256 is None else sha256 for version, sha256, bot in rows}


def _forks_of(session: Session, project_id: str, game: str, rated: Mapping[str, str]) -> dict[str, str]:
    """First versions of forks whose weights are rated."""
    rows = session.execute(
        select(ModelVersion.id, ModelVersion.sha256)
        .join(Trial, Trial.id == ModelVersion.trial_id)
        .where(
            ModelVersion.origin == VersionOrigin.FORK,
            ModelVersion.sha256.in_(set(rated.values())),
            Trial.project_id == project_id,
            Trial.game == game,
        )
    )
    return {version: sha256 for version, sha256 in rows if sha256 is not None}


def _keep_covariance(
    session: Session, fit_id: str, project_id: str, game: str, ratings: Ratings, rated: Mapping[str, str]
) -> None:
    """Store the covariance of the newest fit, in squared Elo, and delete those of older fits."""
    older = select(RatingFit.id).where(
        RatingFit.project_id == project_id, RatingFit.game == game, RatingFit.method == RatingMethod.BRADLEY_TERRY
    )
    session.execute(delete(RatingCovariance).where(RatingCovariance.fit_id.in_(older)))
    place = {name: index for index, name in enumerate(ratings.names)}
    versions = sorted(rated)
    order = np.array([place[rated[version]] for version in versions])
    covariance = ratings.covariance[np.ix_(order, order)] * ELO_PER_NAT**2
    upper = covariance[np.triu_indices(len(versions))]
    session.execute(insert(RatingCovariance).values(fit_id=fit_id, versions=versions, upper_triangle=upper.tolist()))
