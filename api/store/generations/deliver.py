"""Delivering a generation's outcome: its file is kept, the matchmaker's memory goes on, and it is recorded once."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.orm import Session

from api.store.checkpoints.garbage import keep_checkpoint
from api.store.core.errors import Conflict
from api.store.generations.matchmaker_state import state_after
from api.store.generations.outcome import GenerationOutcome, RecordedGeneration
from api.store.generations.plan import planned_evidence
from api.store.generations.record import find_generation, record_generation
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
