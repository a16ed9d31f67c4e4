"""Rows of the store as answers, for those that routes and orders share."""

from __future__ import annotations

from typing import Any

from api.schemas.gates import Gate, GateSummary, PathPoint
from api.schemas.schedules import Schedule
from api.schemas.tournaments import Tournament
from api.schemas.trials import Trial, TrialSummary
from api.store.core.engine import Session
from api.store.gates.reads import gate_path, get_gate
from api.store.tournaments.reads import NamedSchedule, NamedTournament
from api.store.trials.reads import NamedTrial


def summary_of(row: NamedTrial) -> TrialSummary:
    """A trial without its file."""
    return TrialSummary.model_validate({**_values(row[0]), "project": row[1]})


def trial_of(row: NamedTrial) -> Trial:
    """A trial with its file."""
    return Trial.model_validate({**_values(row[0]), "project": row[1]})


def _values(trial: Any) -> dict[str, Any]:
    own = {"project", "budget_steps"}
    values = {name: getattr(trial, name) for name in Trial.model_fields if name not in own}
    return {**values, "budget_steps": (trial.spec.get("budget") or {}).get("steps")}


def tournament_of(row: NamedTournament) -> Tournament:
    """A tournament, with the number of its entrants and pairings."""
    tournament, project, entrants, played, known = row
    values = {name: getattr(tournament, name, None) for name in Tournament.model_fields}
    return Tournament.model_validate(
        {**values, "project": project, "entrants": entrants, "pairings_played": played, "pairings_known": known}
    )


def schedule_of(row: NamedSchedule) -> Schedule:
    """A schedule, without the firings that only Temporal knows."""
    schedule, project = row
    own = {"project", "taken", "fired", "skipped_overlap", "missed_catchup", "next"}
    values = {name: getattr(schedule, name) for name in Schedule.model_fields if name not in own}
    return Schedule.model_validate({**values, "project": project, "taken": schedule.workflow_started_at is not None})


def read_gate(session: Session, gate_id: str) -> Gate:
    """A gate with the path of its test."""
    summary = GateSummary.model_validate(get_gate(session, gate_id))
    path = [PathPoint.model_validate(batch) for batch in gate_path(session, gate_id)]
    return Gate(**summary.model_dump(), path=path)
