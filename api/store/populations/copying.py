"""A member of a population takes over a better one's weights and optimiser, once, with its decision and its evidence.

It is judged at the member's own commit point, after its generation: so none of its training is under way, and no other
member has to wait.

See docs/decisions/populations.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, PlayerStatus, VersionOrigin
from api.schemas.events import PlayerCopied
from api.store.checkpoints.damaged import damaged_sha256
from api.store.core.commits import take_commit
from api.store.core.decisions import Subject, record_decision
from api.store.core.events import NewEvent
from api.store.players.versions import copy_version, playing_version, version_name, version_payload
from api.store.populations.scores import standings_at
from api.store.tables import ModelVersion, Player, Trial
from api.store.trials.spec import algorithm_choice, spec_of
from league.populations.selection import COPY
from league.types import Decision as Verdict
from league.types import PlayerId
from orchestrator.league_rules import GenerationRef
from orchestrator.populations import Member, is_due, judge_copy


def maybe_copy(session: Session, trial: Trial, player: Player, subject: Subject) -> NewEvent | None:
    """Decide whether the player copies another member of its population, and do it; returns the event of a copy."""
    if player.population is None:
        return None
    population = spec_of(trial).league.population(player.population)
    if not is_due(population, player.generation):
        return None
    verdict = judge_member(session, trial, player)
    if verdict.verdict != COPY:
        version = playing_version(session, player)
        record_decision(session, replace(subject, version_id=version.id), verdict)
        return None
    return _copy(session, trial, player, subject, verdict)


def judge_member(session: Session, trial: Trial, player: Player) -> Verdict:
    """The decision on this member as of the trial's newest commit."""
    assert player.population is not None
    population = spec_of(trial).league.population(player.population)
    members = _members(session, trial, player.population)
    read = _as_rules_read(session, trial, members)
    compared = [member for member in members if member.id in read]
    standings = standings_at(session, trial, compared, population.exploit, commit=trial.last_commit)
    turn = GenerationRef(
        trial_seed=trial.seed, learner=PlayerId(player.id), name=player.name, generation=player.generation
    )
    return judge_copy(population, turn, standings, read)


def _members(session: Session, trial: Trial, population: str) -> list[Player]:
    """The members that are not retired, in order of creation."""
    query = select(Player).where(
        Player.trial_id == trial.id, Player.population == population, Player.status == PlayerStatus.ACTIVE
    )
    return list(session.scalars(query.order_by(Player.id).execution_options(populate_existing=True)))


def _as_rules_read(session: Session, trial: Trial, members: list[Player]) -> Mapping[str, Member]:
    """The members that have a version to copy."""
    spec, damaged = spec_of(trial), damaged_sha256(session, trial.id)
    found = {}
    for player in members:
        versions = session.scalars(
            select(ModelVersion).where(ModelVersion.player_id == player.id).order_by(ModelVersion.number.desc())
        )
        usable = next((version.id for version in versions if version.sha256 not in damaged), None)
        if usable is not None:
            own = {**(player.algorithm or spec.algorithm.to_json()), **player.hyperparameters}
            found[player.id] = Member(
                algorithm=algorithm_choice(own), hyperparameters=player.hyperparameters, version=usable
            )
    return found


def _copy(session: Session, trial: Trial, player: Player, subject: Subject, verdict: Verdict) -> NewEvent:
    evidence = verdict.evidence
    source = session.get_one(ModelVersion, evidence["donor_version"])
    number = playing_version(session, player).number + 1
    commit = take_commit(session, trial, CommitKind.COPY)
    version = copy_version(session, player, source, VersionOrigin.COPY, commit, number=number)
    player.hyperparameters = evidence["hyperparameters"]
    player.revision += 1
    record_decision(session, replace(subject, version_id=version.id), verdict, commit)
    payload = PlayerCopied(
        **version_payload(player, version),
        donor_id=evidence["donor"],
        donor=evidence["donor_name"],
        donor_version_id=source.id,
        donor_version=version_name(session, source.id),
        p_value=evidence["p_value"],
        hyperparameters=evidence["hyperparameters"],
        before=evidence["before"],
    )
    return NewEvent(trial_id=trial.id, payload=payload)
