"""Scores of a population's members as of a commit, read from append-only rows: an audit reads the same again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import RatingMethod, VersionOrigin
from api.store.ratings.bradley_terry import RatingGames, fit_bradley_terry, policies_of, rating_games
from api.store.tables import ModelVersion, Player, RatingFit, ReturnTally, Tally, Trial
from league.payoff.returns import Returns
from league.populations.measures import WinDrawLoss, return_scores, win_rate_scores
from league.populations.rules import ScoreOf
from league.populations.selection import Score, Standings
from league.ratings import Ratings
from league.types import PlayerId, Stream
from orchestrator.spec.population import ExploitSpec

Names = Mapping[PlayerId, str]
OwnVersions = Mapping[PlayerId, list[str]]
"""The versions of each member that count, the newest first: those trained since its last copy, reset or rollback."""


def standings_at(
    session: Session,
    trial: Trial,
    members: Sequence[Player],
    exploit: ExploitSpec,
    *,
    commit: int,
    fit_id: str | None = None,
) -> Standings:
    """The scores after this commit. `fit_id` is the rating fit that a decision read; None: the newest."""
    names = {PlayerId(member.id): member.name for member in members}
    # an audit compares the same members, though some of them may retire later
    source: dict[str, Any] = {"as_of_commit": commit, "members": [member.id for member in members]}
    own = {member: _own_versions(session, member, commit) for member in names}
    if exploit.by is ScoreOf.RATING:
        return _by_rating(session, trial, own, names, exploit, source, fit_id)
    counted = {member: versions[: exploit.window] for member, versions in own.items()}
    if exploit.by is ScoreOf.RETURN:
        scores = return_scores(_returns(session, counted), names, exploit.min_games)
        return Standings(scores=tuple(scores), of=exploit.by, source=source)
    rated, common = win_rate_scores(_results(session, counted), names, exploit.min_games)
    return Standings(scores=tuple(rated), of=exploit.by, source={**source, "opponents": [str(each) for each in common]})


def _own_versions(session: Session, member: PlayerId, commit: int) -> list[str]:
    newest_first = session.execute(
        select(ModelVersion.id, ModelVersion.origin)
        .where(ModelVersion.player_id == member, ModelVersion.commit <= commit)
        .order_by(ModelVersion.number.desc())
    )
    return [version for version, _ in takewhile(lambda row: row[1] is VersionOrigin.TRAINED, newest_first)]


def _returns(session: Session, counted: OwnVersions) -> dict[PlayerId, Returns]:
    owner = {version: member for member, versions in counted.items() for version in versions}
    rows = session.scalars(
        select(ReturnTally)
        .where(ReturnTally.version_id.in_(owner), ReturnTally.stream == Stream.TRAINING)
        .order_by(ReturnTally.commit)
    )
    found: dict[PlayerId, Returns] = {}
    for row in rows:
        member = owner[row.version_id]
        found[member] = found.get(member, Returns()).merged(Returns(row.games, row.mean, row.deviations))
    return found


def _results(session: Session, counted: OwnVersions) -> dict[PlayerId, dict[PlayerId, WinDrawLoss]]:
    owner = {version: member for member, versions in counted.items() for version in versions}
    rows = session.execute(
        select(Tally.learner_version_id, ModelVersion.player_id, Tally.wins, Tally.draws, Tally.losses)
        .join(ModelVersion, ModelVersion.id == Tally.opponent_version_id)
        .where(Tally.learner_version_id.in_(owner), Tally.stream == Stream.TRAINING)
    )
    found: dict[PlayerId, dict[PlayerId, WinDrawLoss]] = {}
    for version, opponent, wins, draws, losses in rows:
        against = found.setdefault(owner[version], {})
        met = against.get(PlayerId(opponent), WinDrawLoss())
        against[PlayerId(opponent)] = met.plus(WinDrawLoss(wins, draws, losses))
    return found


def _by_rating(
    session: Session,
    trial: Trial,
    own: OwnVersions,
    names: Names,
    exploit: ExploitSpec,
    about: Mapping[str, Any],
    fit_id: str | None,
) -> Standings:
    """The newest rated version of each member, and the errors of all differences from the fit's full covariance."""
    fit = _fit(session, trial, fit_id)
    source: dict[str, Any] = {**about, "rating_fit": None if fit is None else fit.id}
    if fit is None:
        return Standings(scores=(), of=exploit.by, source=source)
    games = rating_games(session, trial.project_id, trial.game, up_to=fit.last_match_id)
    ratings = fit_bradley_terry(games)
    if ratings is None:
        return Standings(scores=(), of=exploit.by, source=source)
    rated = _rated(session, own, games, ratings, exploit.min_games)
    return Standings(
        scores=tuple(_rating(member, names[member], ratings, policy) for member, (_, policy) in rated.items()),
        of=exploit.by,
        errors={
            frozenset((a, b)): ratings.standard_error(rated[a][1], rated[b][1]) for a in rated for b in rated if a < b
        },
        source={**source, "rated_versions": {member: version for member, (version, _) in rated.items()}},
    )


def _fit(session: Session, trial: Trial, fit_id: str | None) -> RatingFit | None:
    if fit_id is not None:
        return session.get(RatingFit, fit_id)
    return session.scalars(
        select(RatingFit)
        .where(
            RatingFit.project_id == trial.project_id,
            RatingFit.game == trial.game,
            RatingFit.method == RatingMethod.BRADLEY_TERRY,
        )
        .order_by(RatingFit.created_at.desc(), RatingFit.id.desc())
        .limit(1)
    ).one_or_none()


def _rated(
    session: Session, own: OwnVersions, games: RatingGames, ratings: Ratings, min_games: int
) -> dict[PlayerId, tuple[str, str]]:
    """Each member's newest rated version, with its policy."""
    policies = policies_of(session, {version for versions in own.values() for version in versions})
    played = dict(zip(ratings.names, ratings.games, strict=True))
    found: dict[PlayerId, tuple[str, str]] = {}
    for member, versions in own.items():
        enough = (version for version in versions if played.get(policies[version], 0) >= min_games)
        newest = next(enough, None)
        if newest is not None:
            found[member] = newest, policies[newest]
    return found


def _rating(member: PlayerId, name: str, ratings: Ratings, policy: str) -> Score:
    return Score(
        member=member,
        name=name,
        value=ratings.elo(policy),
        error=ratings.standard_error(policy, ratings.anchor),
        games=dict(zip(ratings.names, ratings.games, strict=True))[policy],
    )
