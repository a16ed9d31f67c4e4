"""Counts the recent generations of each learner, for the priority of their training."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.schemas.enums import PlayerStatus
from api.store.tables import Generation, Player, Trial
from league.training_priority import GENERATIONS_COMPARED
from league.types import PlayerId, Role


def recent_generations(session: Session, trial: Trial) -> dict[PlayerId, int]:
    """Generations of each active learner among the newest of the trial, ten per learner."""
    learners = session.scalars(
        select(Player.id).where(
            Player.trial_id == trial.id,
            Player.status == PlayerStatus.ACTIVE,
            Player.role.in_([role for role in Role if role.learns]),
        )
    ).all()
    newest = (
        select(Generation.player_id)
        .where(Generation.trial_id == trial.id)
        .order_by(Generation.commit.desc())
        .limit(GENERATIONS_COMPARED * len(learners))
        .subquery()
    )
    counted = select(newest.c.player_id, func.count().label("generations")).group_by(newest.c.player_id)
    recorded: dict[str, int] = {row.player_id: row.generations for row in session.execute(counted)}
    return {PlayerId(player): recorded.get(player, 0) for player in learners}
