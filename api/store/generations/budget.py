"""What is left of a trial's budget for the next generation: the last ones are shorter."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import PlayerStatus, TrialStatus
from api.store.core.errors import NotYet
from api.store.tables import Decision, Player, Trial
from api.store.trials.rungs import check_sweep_allows, step_limit
from api.store.trials.spec import spec_of
from league.types import DecisionKind, Role


def check_budget(session: Session, trial: Trial, player: Player) -> None:
    """Raise NotYet while generations of other players, which are under way, use up the rest of the budget."""
    if trial.status is TrialStatus.STOPPING or trial.status.is_final:
        return
    under_way = steps_under_way(session, trial, player)
    check_sweep_allows(session, trial, under_way)
    if under_way and not _left(trial, under_way):
        raise NotYet(f"the rest of the budget is under way; {player.name} goes on if it is not used up")


def is_held(session: Session, trial: Trial) -> bool:
    """Whether no player of the trial may begin a generation now: its sweep holds it, or its budget is spoken for."""
    under_way = steps_under_way(session, trial)
    try:
        check_sweep_allows(session, trial, under_way)
    except NotYet:
        return True
    return not _left(trial, under_way)


def next_steps(session: Session, trial: Trial, player: Player) -> int:
    """The steps of the player's next generation."""
    under_way = steps_under_way(session, trial, player)
    steps = _left(trial, under_way) or spec_of(trial).generation.steps
    limit = step_limit(session, trial)
    # a generation ends at its rung, so that all trials of a sweep are compared after the same steps
    return steps if limit is None else max(1, min(steps, limit - trial.steps - under_way))


def steps_under_way(session: Session, trial: Trial, player: Player | None = None) -> int:
    """Steps of the generations of learning players other than this one that are planned and not recorded."""
    rows = session.execute(
        select(Player.id, Decision.evidence)
        .join(Decision, (Decision.player_id == Player.id) & (Decision.generation == Player.generation + 1))
        .where(
            Player.trial_id == trial.id,
            *(() if player is None else (Player.id != player.id,)),
            Player.status == PlayerStatus.ACTIVE,
            Player.role.in_([role for role in Role if role.learns]),
            Decision.kind == DecisionKind.MATCHMAKING,
        )
        .order_by(Decision.id)
    )
    usual = spec_of(trial).generation.steps
    return sum({owner: int(evidence["plan"].get("steps") or usual) for owner, evidence in rows}.values())


def _left(trial: Trial, under_way: int) -> int:
    spec = spec_of(trial)
    return spec.budget.next_generation(spec.generation.steps, used=trial.steps, under_way=under_way)
