"""The champion of a trial: champions belong to a project and its game, and all trials of these share them."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.overview import Champion
from api.store.tables import Alias, ModelVersion, Player, Trial

CHAMPION = "champion"
"""The alias of a trial whose file names no other."""


def read_champion(session: Session, trial: Trial) -> Champion | None:
    """The version that the trial's gates have to beat, of whichever trial of its project and game."""
    found = session.execute(
        select(Alias.version_id, ModelVersion.trial_id, Alias.moved_at, Player.name, ModelVersion.number, Trial.name)
        .join(ModelVersion, ModelVersion.id == Alias.version_id)
        .join(Player, Player.id == ModelVersion.player_id)
        .join(Trial, Trial.id == ModelVersion.trial_id)
        .where(Alias.project_id == trial.project_id, Alias.game == trial.game, Alias.name == champion_alias(trial))
    ).one_or_none()
    if found is None:
        return None
    version, trained_in, moved_at, player, number, home = found
    return Champion(
        version_id=version,
        trial_id=trained_in,
        trial=home,
        player=player,
        number=number,
        alias=champion_alias(trial),
        since=moved_at,
    )


def champion_alias(trial: Trial) -> str:
    """The alias that the trial's gates move."""
    gate = trial.spec.get("league", {}).get("champion_gate") or {}
    return str(gate.get("alias", CHAMPION))
