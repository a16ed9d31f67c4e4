"""The usual measurement of a learning player: a gauntlet against a field of its trial, every few generations."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.models import Alias, Generation, Player, Project, Tournament, Trial
from api.store.rosters import player_of
from api.store.seeds import derived_seed
from api.store.specs import spec_of
from api.store.tournaments import FINAL, create_tournament
from api.store.weights import playing_version
from league.types import Role
from orchestrator.spec.tournament import TournamentSpec

NEWEST_SNAPSHOTS = 6
"""Snapshots in the field: enough to tie the newest version to its past, and few enough to stay quick."""
POOL_PRESET = "psro"
"""Here the newest response meets the whole pool, whose meta-game the matchmaking solves."""
LARGEST_POOL = 200
CHAMPION = "champion"


def open_trial_evaluation(session: Session, trial_id: str, player_id: str, generation: int) -> tuple[str | None, str]:
    """The gauntlet of this generation, made now or found; None and why where none is to be played.

    The field: the random bot (the ratings' anchor), the trial's bots, its newest snapshots, and the champion.
    With the preset psro the newest snapshot meets the whole pool instead.
    """
    player = player_of(session, trial_id, player_id)
    trial = session.get_one(Trial, trial_id)
    occasion = f"generation:{player_id}:{generation}"
    known = session.scalars(select(Tournament.id).where(Tournament.occasion == occasion)).one_or_none()
    if known is not None:
        return known, ""
    under_way = session.scalars(
        select(Tournament.id).where(
            Tournament.trial_id == trial_id,
            Tournament.occasion.like(f"generation:{player_id}:%"),
            Tournament.status.not_in(FINAL),
        )
    ).first()
    if under_way is not None:
        return None, f"the evaluation {under_way} of {player.name} is still under way"
    trial_spec = spec_of(trial)
    pooled = trial_spec.league.preset == POOL_PRESET
    field = (
        _pool(session, trial_id)
        if pooled
        else [
            "bot:random",
            "bots",
            *_snapshots(session, trial_id, NEWEST_SNAPSHOTS),
            *_champion(session, trial),
        ]
    )
    challenger = _newest_response(session, player) if pooled else _version(session, player, generation)
    if challenger is None or not (field := [each for each in field if each != f"version:{challenger}"]):
        return None, "the pool has no two members yet"
    games = trial_spec.evaluation.games
    spec = TournamentSpec(
        trial=trial.name,
        format="gauntlet",
        challengers=(f"version:{challenger}",),
        entrants=tuple(field),
        # the games of one evaluation, spread over the field in pairs
        games=min(1000, max(2, games // max(1, _size(session, trial_id, field)) // 2 * 2)),
        seed=derived_seed(trial.seed, player.name, generation, "gauntlet"),
    )
    project = session.get_one(Project, trial.project_id).name
    name = f"{player.name} after generation {generation}"
    return create_tournament(session, project, spec, occasion=occasion, name=name).id, ""


def _version(session: Session, player: Player, generation: int) -> str:
    recorded = session.scalar(
        select(Generation.version_id).where(Generation.player_id == player.id, Generation.number == generation)
    )
    return recorded or playing_version(session, player).id


def _pool(session: Session, trial_id: str) -> list[str]:
    """Everyone the meta-game is played among: its equilibrium is only as good as its entries."""
    return ["bots", *_snapshots(session, trial_id, LARGEST_POOL)]


def _newest_response(session: Session, player: Player) -> str | None:
    newest = session.scalars(
        select(Player).where(Player.parent_id == player.id).order_by(Player.created_commit.desc()).limit(1)
    ).one_or_none()
    return playing_version(session, newest).id if newest else None


def _snapshots(session: Session, trial_id: str, most: int) -> list[str]:
    newest = (
        select(Player)
        .where(Player.trial_id == trial_id, Player.role == Role.HISTORICAL)
        .order_by(Player.created_commit.desc())
        .limit(most)
    )
    return [f"version:{playing_version(session, each).id}" for each in session.scalars(newest)]


def _champion(session: Session, trial: Trial) -> list[str]:
    return [f"alias:{CHAMPION}"] if session.get(Alias, (trial.project_id, trial.game, CHAMPION)) else []


def _size(session: Session, trial_id: str, field: list[str]) -> int:
    bots = set(session.scalars(select(Player.bot).where(Player.trial_id == trial_id, Player.role == Role.BOT)))
    return len(bots | {"random"}) + len(field) - 2
