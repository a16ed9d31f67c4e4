"""The code that a tournament runs: of its game, of its entrants' models and algorithms, of its bots."""

from __future__ import annotations

from contextlib import suppress

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.core.errors import Conflict, NotFound
from api.store.tables import ModelVersion, Player, Schedule, Tournament, TournamentEntrant, Trial
from api.store.tournaments.entrants import Arena, reached_trials
from api.store.trials.code_of_trials import code_of_members, code_of_player, inherited_code
from api.store.trials.spec import spec_of
from orchestrator.spec.code_names import CodeName, Path, code_in_choice, code_in_game, code_in_tournament
from orchestrator.spec.tournament import TournamentSpec


def code_of_tournament(session: Session, tournament: Tournament, spec: TournamentSpec) -> list[CodeName]:
    """Every name of code that the tournament runs, by the field that brings it."""
    rows = session.execute(
        select(TournamentEntrant.label, Player)
        .join(ModelVersion, ModelVersion.id == TournamentEntrant.version_id)
        .join(Player, Player.id == ModelVersion.player_id)
        .where(TournamentEntrant.tournament_id == tournament.id)
        .order_by(TournamentEntrant.number)
    ).all()
    found = code_in_tournament(spec)
    found += _of_arena(session, tournament.trial_id, spec)
    for trial_id in dict.fromkeys(player.trial_id for _, player in rows if player.bot is None):
        trial = session.get_one(Trial, trial_id)
        found += _of_trial(session, trial, ("entrants", trial.name))
    named = {each.name for each in found}
    for label, player in rows:
        found += [each for each in code_of_player(player, ("entrants", label)) if each.name not in named]
    return found


def code_of_schedule(session: Session, schedule_id: str) -> list[CodeName]:
    """Names of code that each firing of a schedule runs; its entrants are chosen when it fires, so of all trials that
    its rules reach now."""
    schedule = session.get(Schedule, schedule_id)
    if schedule is None:
        raise NotFound(f"there is no schedule {schedule_id}")
    spec = TournamentSpec.model_validate(schedule.tournament)
    own = None if spec.trial is None or schedule.trial_id is None else session.get_one(Trial, schedule.trial_id)
    game = spec.game if own is None else spec_of(own).game
    found = [*code_in_tournament(spec), *_of_arena(session, schedule.trial_id, spec)]
    if game is None:
        return found
    arena = Arena(project_id=schedule.project_id, game=game, trial=own)
    reached = {} if own is None else {own.id: own}
    for rule in (*spec.entrants, *spec.challengers):
        with suppress(NotFound, Conflict):  # what a rule names may come to be before the schedule fires
            reached |= {trial.id: trial for trial in reached_trials(session, arena, rule)}
    for trial in reached.values():
        path: Path = () if trial is own else ("entrants", trial.name)
        found += [*_of_trial(session, trial, path), *code_of_members(session, trial, path)]
    return list({each.name: each for each in reversed(found)}.values())[::-1]


def _of_arena(session: Session, trial_id: str | None, spec: TournamentSpec) -> list[CodeName]:
    """The game of the trial that says what is played."""
    if spec.trial is None or trial_id is None:
        return []
    return code_in_game(spec_of(session.get_one(Trial, trial_id)).game, ("trial", "game"))


def _of_trial(session: Session, trial: Trial, path: Path) -> list[CodeName]:
    """The trial's model and algorithm, for players without their own, and the algorithms of its first weights."""
    spec = spec_of(trial)
    return [
        *code_in_choice(spec.model, (*path, "model")),
        *code_in_choice(spec.algorithm, (*path, "algorithm")),
        *inherited_code(session, trial, path),
    ]
