"""Retention: gives up the checkpoints of old training versions that nothing needs.

A transaction marks the versions of one trial and writes an event. The files go afterwards, by garbage collection. So a
process that dies between any two steps leaves nothing wrong: what is marked is garbage, what is not is kept.

See docs/decisions/checkpoints-and-artifacts.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, Text, cast, func, insert, select, text, union
from sqlalchemy.orm import Session, sessionmaker

from api.schemas.enums import ProbeStatus, TournamentPurpose, TournamentStatus
from api.schemas.events import CheckpointsPruned
from api.store.checkpoints.damaged import damaged_sha256
from api.store.core.events import NewEvent, append_events
from api.store.core.locks import BACKUP_LOCK, CHECKPOINTS_LOCK
from api.store.players.pruned import is_pruned
from api.store.tables import (
    Alias,
    AliasEvent,
    CanaryResult,
    Decision,
    Gate,
    ModelVersion,
    PeopleGame,
    Player,
    Probe,
    PrunedVersion,
    RatingFit,
    Schedule,
    Sweep,
    Tournament,
    TournamentEntrant,
    Trial,
)
from league.types import DecisionKind, Role
from orchestrator.searching import PREFIX, searched_checkpoint

FEWEST_NEWEST = 2
"""A generation that is planned, or rolled back, at this moment may still need the version before the newest."""
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_EVALUATIONS = (TournamentPurpose.FIELD_EVALUATION, TournamentPurpose.TARGET_EVALUATION)
_LEARNING = tuple(role for role in Role if role.learns)
_PROBED = (ProbeStatus.PENDING, ProbeStatus.RUNNING, ProbeStatus.STOPPING)
_PLAYING = (TournamentStatus.PENDING, TournamentStatus.RUNNING)
_AT_ONCE = 10_000


@dataclass(frozen=True, kw_only=True)
class Retention:
    """Which versions of each learning player are kept whatever else needs them."""

    newest: int
    """So many, and at least two."""
    every: int = 0
    """And each whose number this divides; 0: no further ones."""

    def __post_init__(self) -> None:
        if self.newest < FEWEST_NEWEST or self.every < 0:
            raise ValueError(f"retention keeps at least the {FEWEST_NEWEST} newest versions of each player")


@dataclass(frozen=True, kw_only=True)
class Pruned:
    """What was pruned of one trial, or would be."""

    trial_id: str
    trial: str
    versions: int
    files: int
    size: int


class BackupUnderWay(Exception):
    """A backup is being written: what it names must not go before it is copied."""


def prune_checkpoints(sessions: sessionmaker[Session], retention: Retention, *, dry_run: bool = False) -> list[Pruned]:
    """Mark the checkpoints that retention gives up, trial by trial; BackupUnderWay while a backup is written."""
    with sessions() as session:
        many = select(ModelVersion.trial_id).group_by(ModelVersion.trial_id).having(func.count() > retention.newest)
        trials = session.scalars(many.order_by(ModelVersion.trial_id)).all()
    found = []
    for trial_id in trials:
        with sessions.begin() as session:
            pruned = _prune_trial(session, trial_id, retention, dry_run=dry_run)
        if pruned is not None:
            found.append(pruned)
    return found


def _prune_trial(session: Session, trial_id: str, retention: Retention, *, dry_run: bool) -> Pruned | None:
    if not dry_run:
        if not session.scalar(text(f"SELECT pg_try_advisory_xact_lock({BACKUP_LOCK})")):
            raise BackupUnderWay("a backup is being written; prune when it is complete")
        session.execute(text(f"SELECT pg_advisory_xact_lock({CHECKPOINTS_LOCK})"))
    given_up = _unneeded(session, trial_id, retention)
    if not given_up:
        return None
    files = {version.sha256: version.size or 0 for version in given_up}
    trial = session.get_one(Trial, trial_id)
    pruned = Pruned(
        trial_id=trial_id, trial=trial.name, versions=len(given_up), files=len(files), size=sum(files.values())
    )
    if not dry_run:
        session.execute(insert(PrunedVersion), [{"version_id": version.id} for version in given_up])
        payload = CheckpointsPruned(
            versions=pruned.versions,
            files=pruned.files,
            bytes=pruned.size,
            newest=retention.newest,
            every=retention.every,
        )
        append_events(session, [NewEvent(trial_id=trial_id, payload=payload)])
    return pruned


def _unneeded(session: Session, trial_id: str, retention: Retention) -> list[ModelVersion]:
    """The versions of the trial that neither the policy keeps nor anything needs."""
    old = session.scalars(_old_versions(session, trial_id, retention)).all()
    old = [version for version in old if not (retention.every and version.number % retention.every == 0)]
    needed: set[str] = set()
    for few in _few_at_once([version.id for version in old]):
        needed.update(session.scalars(_needed_by_rows(few)))
    if old:
        needed |= _named_in_texts(session, trial_id)
    old = [version for version in old if version.id not in needed]
    shared = _needed_files(session, {str(version.sha256) for version in old}, {version.id for version in old})
    return [version for version in old if version.sha256 not in shared]


def _old_versions(session: Session, trial_id: str, retention: Retention) -> Select[ModelVersion]:
    """Of learning players all but the first and the newest; damaged ones are left alone, and do not count."""
    damaged = damaged_sha256(session, trial_id)
    of_player: dict[str, Any] = {"partition_by": ModelVersion.player_id}
    ranked = (
        select(
            ModelVersion.id,
            func.row_number().over(**of_player, order_by=ModelVersion.number.desc()).label("rank"),
            func.min(ModelVersion.number).over(**of_player).label("first"),
        )
        .join(Player, Player.id == ModelVersion.player_id)
        .where(ModelVersion.trial_id == trial_id, Player.role.in_(_LEARNING), ModelVersion.sha256.is_not(None))
    )
    if damaged:
        ranked = ranked.where(ModelVersion.sha256.not_in(damaged))
    ranks = ranked.subquery()
    return (
        select(ModelVersion)
        .join(ranks, ranks.c.id == ModelVersion.id)
        .where(ranks.c.rank > retention.newest, ModelVersion.number > ranks.c.first, ~is_pruned())
        .order_by(ModelVersion.player_id, ModelVersion.number)
    )


def _needed_by_rows(ids: Sequence[str]) -> Select[tuple[str]]:
    """Those of the ids that an alias, a gate, a tournament, a probe, a canary, a rating or a person's game names."""
    entered = (
        select(TournamentEntrant.version_id)
        .join(Tournament, Tournament.id == TournamentEntrant.tournament_id)
        # the games of an evaluation that has ended are recorded, and nobody opens it to play them again
        .where(Tournament.purpose.not_in(_EVALUATIONS) | Tournament.status.in_(_PLAYING))
    )
    columns = (
        Alias.version_id,
        AliasEvent.from_version_id,
        AliasEvent.to_version_id,
        Gate.candidate_version_id,
        Gate.champion_version_id,
        Probe.version_id,
        CanaryResult.champion_version_id,
        CanaryResult.canary_version_id,
        PeopleGame.version_id,
        RatingFit.anchor_version_id,
    )
    named = [select(column).where(column.in_(ids)) for column in columns]
    needed = union(entered.where(TournamentEntrant.version_id.in_(ids)), *named).subquery()
    return select(needed.c[0])


def _named_in_texts(session: Session, trial_id: str) -> set[str]:
    """Every id in trial files, sweeps, schedules, open tournaments and probes, and plans that are not recorded yet."""
    unrecorded = (
        select(Decision.evidence)
        .join(Player, Player.id == Decision.player_id)
        .where(
            Player.trial_id == trial_id,
            Decision.kind == DecisionKind.MATCHMAKING,
            Decision.generation > Player.generation,
        )
    )
    documents = (
        select(cast(Trial.spec, Text)),
        select(cast(Sweep.spec, Text)),
        select(cast(Schedule.tournament, Text)).where(Schedule.deleted_at.is_(None)),
        select(cast(Tournament.spec, Text)).where(Tournament.status.in_(_PLAYING)),
        select(cast(Probe.target, Text)).where(Probe.status.in_(_PROBED)),
        select(cast(unrecorded.subquery().c[0], Text)),
    )
    return {name for query in documents for found in session.scalars(query) for name in _ID.findall(found)}


def _needed_files(session: Session, files: set[str], given_up: set[str]) -> set[str]:
    """Those files that another version has too (a snapshot, a fork, a copy), or that a bot searches with."""
    searching = session.scalars(select(Player.bot).where(Player.bot.startswith(PREFIX, autoescape=True)))
    needed = {sha256 for bot in searching if bot is not None and (sha256 := searched_checkpoint(bot)) is not None}
    for few in _few_at_once(sorted(files)):
        others = select(ModelVersion.id, ModelVersion.sha256).where(ModelVersion.sha256.in_(few), ~is_pruned())
        needed |= {str(sha256) for version_id, sha256 in session.execute(others) if version_id not in given_up}
    return needed & files


def _few_at_once(values: Sequence[str]) -> Iterator[Sequence[str]]:
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))
