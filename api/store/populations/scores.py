"""Scores of a population's members as of a commit, read from append-only rows: an audit reads the same again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import VersionOrigin
from api.store.populations.rating_fits import fitted_again, newest_fit, stored_ratings
from api.store.ratings.bradley_terry import policies_of
from api.store.tables import ModelVersion, Player, RatingFit, ReturnTally, Tally, Trial
from league.payoff.returns import Returns
from league.populations.measures import WinDrawLoss, return_scores, win_rate_scores
from league.populations.rules import ScoreOf
from league.populations.selection import Score, Standings
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
    fit = newest_fit(session, trial) if fit_id is None else session.get(RatingFit, fit_id)
    source = {**about, "rating_fit": None if fit is None else fit.id}
    if fit is None:
        return Standings(scores=(), of=exploit.by, source=source)
    policies = policies_of(session, {version for versions in own.values() for version in versions})
    stored = stored_ratings(session, fit, set(policies.values())) if fit_id is None else None
    found = fitted_again(session, trial, fit) if stored is None else stored
    rated: dict[PlayerId, str] = {}
    for member, versions in own.items():
        known = (policies[version] for version in versions if policies[version] in found.policies)
        newest = next((policy for policy in known if found.policies[policy].games >= exploit.min_games), None)
        if newest is not None:
            rated[member] = newest
    return Standings(
        scores=tuple(
            Score(
                member=member,
                name=names[member],
                value=found.policies[policy].value,
                error=found.policies[policy].error,
                games=found.policies[policy].games,
            )
            for member, policy in rated.items()
        ),
        of=exploit.by,
        errors={frozenset((a, b)): found.error(rated[a], rated[b]) for a in rated for b in rated if a < b},
        source={**source, "policies": rated},
    )
