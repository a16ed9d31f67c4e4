"""Keeps players that share crews level: a player that leads too far waits for those behind.

See docs/decisions/crews.md.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from api.schemas.enums import PlayerStatus, TrialStatus
from api.store.core.clock import now
from api.store.core.errors import NotYet
from api.store.generations.fair_share import quota_of
from api.store.generations.outcome import TrainedGeneration
from api.store.tables import Decision, Generation, Player, Trial
from league.fair_share import smallest
from league.training_priority import TrainingStanding, patience, queues_after, records_after
from league.types import DecisionKind, PlayerId, Role

LEARNS = (Player.status == PlayerStatus.ACTIVE, Player.role.in_([role for role in Role if role.learns]))


def check_lead(session: Session, trained: TrainedGeneration, crews: int) -> None:
    """Raise NotYet while another player has to record before this generation.

    `crews` is how many generations of this size the cluster trains at once; 0 if unknown. No player waits where each
    learner can have a crew of its own, or where the trial pauses or ends.
    """
    if not _share_crews(session, trained.trial_id, crews):
        return
    if quota_of(session, session.get_one(Trial, trained.trial_id)) is not None:
        return  # the other may have to wait for this very place; players of a quota are kept level by `check_queue`
    standings = _standings(session, trained.trial_id)
    took = trained.finished_at - trained.started_at
    if trained.player_id not in standings or now(session) - trained.finished_at > patience(took, len(standings)):
        return
    other = records_after(PlayerId(trained.player_id), trained.steps, took, standings)
    if other is not None:
        raise NotYet(f"generation {trained.generation} is recorded after the next one of {_name(session, other)}")


def check_queue(session: Session, trial: Trial, player: Player, crews: int) -> None:
    """Raise NotYet while another player has to queue for a crew before this one; `crews` as above.

    A quota counts as fewer crews.
    """
    crews = smallest([crews or None, quota_of(session, trial)]) or 0
    last = session.get(Generation, (player.id, player.generation))
    if last is None or not _share_crews(session, player.trial_id, crews):
        return
    standings = _standings(session, player.trial_id)
    took = last.finished_at - last.started_at
    if player.id not in standings or now(session) - last.recorded_at > patience(took, len(standings)):
        return
    other = queues_after(PlayerId(player.id), last.steps, took, standings)
    if other is not None:
        raise NotYet(f"generation {player.generation + 1} is planned after the next one of {_name(session, other)}")


def _share_crews(session: Session, trial_id: str, crews: int) -> bool:
    """Whether the active learners of all running trials, this one among them, are more than the crews."""
    trial = session.get(Trial, trial_id)
    if trial is None or trial.status is not TrialStatus.RUNNING or not crews:
        return False
    running = select(Trial.id).where(Trial.status == TrialStatus.RUNNING)
    learners = session.scalar(select(func.count()).select_from(Player).where(Player.trial_id.in_(running), *LEARNS))
    return crews < (learners or 0)


def _standings(session: Session, trial_id: str) -> dict[PlayerId, TrainingStanding]:
    """Each active learner's steps since the newest of them joined, its last sign of life, and whether it trains."""
    players = session.scalars(select(Player).where(Player.trial_id == trial_id, *LEARNS)).all()
    joined = max((player.created_commit for player in players), default=0)
    steps: dict[str, int] = {
        row.player_id: int(row.steps)
        for row in session.execute(
            select(Generation.player_id, func.sum(Generation.steps).label("steps"))
            .where(Generation.trial_id == trial_id, Generation.commit > joined)
            .group_by(Generation.player_id)
        )
    }
    planned, recorded, time = _planned_at(session, trial_id), _recorded_at(session, trial_id), now(session)
    return {
        PlayerId(player.id): TrainingStanding(
            steps=steps.get(player.id, 0),
            silent=time - (planned.get(player.id) or recorded.get(player.id) or player.created_at),
            in_flight=player.id in planned,
        )
        for player in players
    }


def _planned_at(session: Session, trial_id: str) -> dict[str, datetime]:
    """When the present generation of each player was planned; without those whose plan is still to be made."""
    last = func.max(Decision.created_at)
    rows = session.execute(
        select(Decision.player_id, last)
        .join(Player, and_(Player.id == Decision.player_id, Decision.generation == Player.generation + 1))
        .where(Player.trial_id == trial_id, Decision.kind == DecisionKind.MATCHMAKING)
        .group_by(Decision.player_id)
    )
    return {row[0]: row[1] for row in rows if row[0] is not None}


def _recorded_at(session: Session, trial_id: str) -> dict[str, datetime]:
    """When the last generation of each player was recorded."""
    rows = session.execute(
        select(Generation.player_id, Generation.recorded_at)
        .join(Player, and_(Player.id == Generation.player_id, Generation.number == Player.generation))
        .where(Player.trial_id == trial_id)
    )
    return {row[0]: row[1] for row in rows}


def _name(session: Session, player: PlayerId) -> str:
    return session.get_one(Player, player).name
