"""The state that the matchmaker `openai_five` keeps between generations: opponents' qualities, also across forks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.store.generations.outcome import OpponentTally
from api.store.tables import Generation, ModelVersion, Player, Trial
from league.matchmaking import qualities_after_wins
from league.types import PlayerId


def qualities_of(session: Session, trial: Trial, player: Player) -> dict[PlayerId, float]:
    """The qualities after the player's newest generation; empty where its matchmaker keeps none."""
    state = _newest_state(session, player.id)
    if state is not None:
        return {PlayerId(name): value for name, value in state["qualities"].items()}
    return _before_fork(session, trial, player)


def state_after(
    session: Session, evidence: Mapping[str, Any], tallies: Iterable[OpponentTally]
) -> dict[str, Any] | None:
    """The matchmaker's state after a generation whose plan has this evidence."""
    before: dict[PlayerId, float] | None = evidence.get("qualities")
    if before is None:
        return None
    won = [tally for tally in tallies if tally.wins]
    versions = session.execute(
        select(ModelVersion.id, ModelVersion.player_id).where(
            ModelVersion.id.in_([tally.opponent_version_id for tally in won])
        )
    )
    owner: dict[str, str] = {row.id: row.player_id for row in versions}
    wins: dict[PlayerId, int] = {}
    for tally in won:
        opponent = PlayerId(owner[tally.opponent_version_id])
        if opponent in before:
            wins[opponent] = wins.get(opponent, 0) + tally.wins
    return {"qualities": qualities_after_wins(before, wins)}


def _newest_state(session: Session, player_id: str, at_commit: int | None = None) -> dict[str, Any] | None:
    query = select(Generation.matchmaker_state).where(
        # a state of None is stored as JSON null, not as SQL NULL
        Generation.player_id == player_id,
        func.jsonb_typeof(Generation.matchmaker_state) == "object",
    )
    if at_commit is not None:
        query = query.where(Generation.commit <= at_commit)
    return session.scalar(query.order_by(Generation.number.desc()).limit(1))


def _before_fork(session: Session, trial: Trial, player: Player) -> dict[PlayerId, float]:
    """The qualities at the fork's commit, with the fork's players."""
    if player.forked_from_player_id is None or trial.forked_from_trial_id is None:
        return {}
    state = _newest_state(session, player.forked_from_player_id, trial.forked_at_commit)
    if state is not None:
        before = {PlayerId(name): value for name, value in state["qualities"].items()}
    else:
        origin = session.get_one(Trial, trial.forked_from_trial_id)
        before = _before_fork(session, origin, session.get_one(Player, player.forked_from_player_id))
    copies = session.execute(
        select(Player.forked_from_player_id, Player.id).where(
            Player.trial_id == trial.id, Player.forked_from_player_id.is_not(None)
        )
    )
    return {PlayerId(copy): before[PlayerId(origin)] for origin, copy in copies if origin in before}
