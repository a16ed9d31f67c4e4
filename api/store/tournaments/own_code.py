"""The code that a tournament runs: of its game, of its entrants' models, of its bots."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.core.errors import NotFound
from api.store.tables import ModelVersion, Player, Schedule, Tournament, TournamentEntrant, Trial
from api.store.trials.spec import model_choice, spec_of
from orchestrator.spec.own_code import CodeName, code_in_choice, code_in_game, code_in_tournament, is_code
from orchestrator.spec.tournament import TournamentSpec


def code_of_tournament(session: Session, tournament: Tournament, spec: TournamentSpec) -> list[CodeName]:
    """Every name of code that the tournament runs, by the field that brings it."""
    rows = session.execute(
        select(TournamentEntrant.label, Player.bot, Player.model, ModelVersion.trial_id)
        .join(ModelVersion, ModelVersion.id == TournamentEntrant.version_id)
        .join(Player, Player.id == ModelVersion.player_id)
        .where(TournamentEntrant.tournament_id == tournament.id)
        .order_by(TournamentEntrant.number)
    ).all()
    found = code_in_tournament(spec)
    found += _of_arena(session, tournament.trial_id, spec)
    for trial_id in dict.fromkeys(row.trial_id for row in rows if row.bot is None and row.model is None):
        trial = session.get_one(Trial, trial_id)
        found += code_in_choice(spec_of(trial).model, ("entrants", trial.name, "model"))
    for row in rows:
        if row.model is not None:
            found += code_in_choice(model_choice(row.model), ("entrants", row.label, "model"))
    named = {each.name for each in found}
    found += [
        CodeName(path=("entrants", row.label), name=row.bot)
        for row in rows
        if row.bot is not None and is_code(row.bot) and row.bot not in named
    ]
    return found


def code_of_schedule(session: Session, schedule_id: str) -> list[CodeName]:
    """Names of code that each firing of a schedule runs; its entrants are chosen when it fires."""
    schedule = session.get(Schedule, schedule_id)
    if schedule is None:
        raise NotFound(f"there is no schedule {schedule_id}")
    spec = TournamentSpec.model_validate(schedule.tournament)
    found = [*code_in_tournament(spec), *_of_arena(session, schedule.trial_id, spec)]
    if spec.trial is not None and schedule.trial_id is not None:
        found += _models(session, session.get_one(Trial, schedule.trial_id))
    return found


def _of_arena(session: Session, trial_id: str | None, spec: TournamentSpec) -> list[CodeName]:
    """The game of the trial that says what is played."""
    if spec.trial is None or trial_id is None:
        return []
    return code_in_game(spec_of(session.get_one(Trial, trial_id)).game, ("trial", "game"))


def _models(session: Session, trial: Trial) -> list[CodeName]:
    """The models of the trial and of its players."""
    own = session.execute(
        select(Player.name, Player.model)
        .where(Player.trial_id == trial.id, Player.model.is_not(None), Player.parent_id.is_(None))
        .order_by(Player.id)
    ).all()
    found = code_in_choice(spec_of(trial).model, ("model",))
    for row in own:
        found += code_in_choice(model_choice(row.model), ("players", row.name, "model"))
    return found
