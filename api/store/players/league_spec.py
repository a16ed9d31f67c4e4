"""The trial's spec with the present players of its league, against which a player that joins or changes is checked."""

from __future__ import annotations

from sqlalchemy.orm import Session

from api.schemas.enums import PlayerStatus
from api.store.players.roster import players_of
from api.store.tables import Player, Trial
from api.store.trials.spec import algorithm_choice, model_choice, spec_of
from orchestrator.spec import TrialSpec
from orchestrator.spec.players import PlayerSpec


def with_player(session: Session, trial: Trial, player: PlayerSpec) -> TrialSpec:
    """The spec with the other learning players that are active, and this player as the last one.

    Names are not looked up, and what a new trial file must fulfil is not checked again.
    """
    spec = spec_of(trial)
    others = [
        _as_spec(spec, row)
        for row in players_of(session, trial.id)
        if row.role.learns and row.status is PlayerStatus.ACTIVE and row.name != player.name
    ]
    return spec.model_copy(update={"league": spec.league.model_copy(update={"players": (*others, player)})})


def _as_spec(spec: TrialSpec, row: Player) -> PlayerSpec:
    plain = PlayerSpec(name=row.name, role=row.role)
    own = row.algorithm is not None or row.hyperparameters
    algorithm = row.algorithm or spec.algorithm.to_json()
    return plain.model_copy(
        update={
            "algorithm": algorithm_choice({**algorithm, **row.hyperparameters}) if own else None,
            "model": None if row.model is None else model_choice(row.model),
        }
    )
