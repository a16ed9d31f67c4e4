"""Field evaluations: every few generations a learning player plays a gauntlet against a field of its trial."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import PlayerStatus, TournamentPurpose
from api.store.core.commits import lock_trial
from api.store.evaluations.meta_game import meta_game
from api.store.players.roster import player_of
from api.store.players.versions import playing_version
from api.store.tables import Alias, Generation, Player, Project, Tournament, Trial
from api.store.tournaments.lifecycle import FINAL, CreatedFor, create_tournament, find_tournament
from api.store.trials.spec import spec_of
from league.seeds import derived_seed
from league.types import Role
from orchestrator.spec.tournament import TournamentSpec

NEWEST_SNAPSHOTS = 6
"""Snapshots in the field: enough to connect the newest version to its past, few enough to be fast."""
POOL_PRESET = "psro"
"""With this preset the pool plays its meta-game instead, since matchmaking needs the payoff of every pair."""
CHAMPION = "champion"


def open_trial_evaluation(session: Session, trial_id: str, player_id: str, generation: int) -> tuple[str | None, str]:
    """The evaluation of this generation, created or found; None and the reason if none is to be played.

    The player's newest version runs a gauntlet: the random bot (the ratings' anchor), the trial's bots, its newest
    snapshots, and the champion. With the preset psro the pool plays its own meta-game instead.
    """
    player = player_of(session, trial_id, player_id)
    trial = session.get_one(Trial, trial_id)
    evaluation = CreatedFor(purpose=TournamentPurpose.FIELD_EVALUATION, player_id=player_id, generation=generation)
    known = find_tournament(session, evaluation)
    if known is not None:
        return known.id, ""
    under_way = evaluation_under_way(session, trial_id, player_id)
    if under_way is not None:
        return None, f"the evaluation {under_way.id} of {player.name} is still under way"
    seed = derived_seed(trial.seed, player.name, generation, "gauntlet")
    if spec_of(trial).league.preset == POOL_PRESET:
        # locked: two mains that ask at once would play the same games twice
        spec = meta_game(session, lock_trial(session, trial_id), seed)
    else:
        spec = _gauntlet(session, trial, _version(session, player, generation), seed)
    if isinstance(spec, str):
        return None, spec
    project = session.get_one(Project, trial.project_id).name
    name = f"{player.name} after generation {generation}"
    return create_tournament(session, project, spec, created_for=evaluation, name=name).id, ""


def evaluation_under_way(session: Session, trial_id: str, player_id: str | None = None) -> Tournament | None:
    """The newest field evaluation that is not over, of one player or of the whole trial."""
    query = select(Tournament).where(
        Tournament.trial_id == trial_id,
        Tournament.purpose == TournamentPurpose.FIELD_EVALUATION,
        Tournament.status.not_in(FINAL),
    )
    if player_id is not None:
        query = query.where(Tournament.player_id == player_id)
    return session.scalars(query.order_by(Tournament.created_at.desc()).limit(1)).one_or_none()


def _gauntlet(session: Session, trial: Trial, challenger: str, seed: int) -> TournamentSpec:
    snapshots = [f"version:{version}" for version in _snapshots(session, trial.id, NEWEST_SNAPSHOTS).values()]
    field = ["bot:random", "bots", *snapshots, *_champion(session, trial)]
    field = [entrant for entrant in field if entrant != f"version:{challenger}"]
    size = len(_bots(session, trial.id) | {"random"}) + len(field) - 2
    return TournamentSpec(
        trial=trial.name,
        format="gauntlet",
        challengers=(f"version:{challenger}",),
        entrants=tuple(field),
        games=spec_of(trial).evaluation.games_per_pairing(size),
        seed=seed,
    )


def _version(session: Session, player: Player, generation: int) -> str:
    recorded = session.scalar(
        select(Generation.version_id).where(Generation.player_id == player.id, Generation.number == generation)
    )
    return recorded or playing_version(session, player).id


def _snapshots(session: Session, trial_id: str, limit: int) -> dict[str, str]:
    """The newest snapshots that are not retired, newest first, each with its version."""
    newest = (
        select(Player)
        .where(Player.trial_id == trial_id, Player.role == Role.HISTORICAL, Player.status == PlayerStatus.ACTIVE)
        .order_by(Player.created_commit.desc(), Player.id.desc())
        .limit(limit)
    )
    return {player.id: playing_version(session, player).id for player in session.scalars(newest)}


def _champion(session: Session, trial: Trial) -> list[str]:
    rule = spec_of(trial).league.champion_gate
    alias = CHAMPION if rule is None else rule.alias
    return [f"alias:{alias}"] if session.get(Alias, (trial.project_id, trial.game, alias)) else []


def _bots(session: Session, trial_id: str) -> set[str | None]:
    bots = select(Player.bot).where(
        Player.trial_id == trial_id, Player.role == Role.BOT, Player.status == PlayerStatus.ACTIVE
    )
    return set(session.scalars(bots))
