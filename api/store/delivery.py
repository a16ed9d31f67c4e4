"""Delivering a generation's outcome: its file is kept, the matchmaker's memory goes on, and it is recorded once."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.orm import Session

from api.store.errors import Conflict
from api.store.garbage import keep_checkpoint
from api.store.generations import find_generation, record_generation
from api.store.outcomes import GenerationOutcome, RecordedGeneration
from api.store.planning import planned_evidence
from api.store.qualities import state_after
from orchestrator.artifacts import ArtifactStore


def deliver_outcome(session: Session, artifacts: ArtifactStore, outcome: GenerationOutcome) -> RecordedGeneration:
    """Record the outcome of a planned generation, or find another one recorded; must end its transaction."""
    recorded = find_generation(session, outcome.player_id, outcome.generation)
    if recorded is not None:
        return recorded  # the file of an outcome that lost the race may be gone by now
    if outcome.plan_decision_id is None:
        raise Conflict(f"generation {outcome.generation} names no plan that it was played by")
    keep_checkpoint(session, artifacts, outcome.checkpoint)
    evidence = planned_evidence(session, outcome.plan_decision_id)
    state = state_after(session, evidence, outcome.tallies)
    return record_generation(session, replace(outcome, matchmaker_state=state))
