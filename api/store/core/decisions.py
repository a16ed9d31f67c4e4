"""Decisions: recorded once, found again by whoever asks a second time."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Select, insert, select
from sqlalchemy.orm import Session

from api.store.tables import Decision
from league.types import Decision as Verdict
from league.types import DecisionKind

_OF_GENERATION = frozenset({DecisionKind.MATCHMAKING, DecisionKind.SNAPSHOT, DecisionKind.RESET})


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What a decision is about; together with the kind it is the key by which a repetition is known.

    Matchmaking, snapshot and reset: player, generation and attempt. Rollback: player and the damaged version.
    Promotion: the gate.
    """

    trial_id: str
    player_id: str
    generation: int | None = None
    attempt: int = 1
    version_id: str | None = None
    gate_id: str | None = None


def record_decision(session: Session, subject: Subject, verdict: Verdict, commit: int | None = None) -> Decision:
    """Write the decision down; a second one of the same key is refused by the table."""
    return session.scalars(
        insert(Decision)
        .values(
            trial_id=subject.trial_id,
            player_id=subject.player_id,
            generation=subject.generation,
            attempt=subject.attempt,
            kind=verdict.kind,
            verdict=verdict.verdict,
            reason=verdict.reason,
            evidence=verdict.evidence,
            version_id=subject.version_id,
            gate_id=subject.gate_id,
            commit=commit,
        )
        .returning(Decision)
    ).one()


def find_decision(session: Session, subject: Subject, kind: DecisionKind) -> Decision | None:
    """The decision of this kind on the subject, if it was taken."""
    return session.scalars(_by_key(subject, kind)).one_or_none()


def _by_key(subject: Subject, kind: DecisionKind) -> Select[Decision]:
    of_player = select(Decision).where(Decision.kind == kind, Decision.player_id == subject.player_id)
    if kind in _OF_GENERATION:
        return of_player.where(Decision.generation == subject.generation, Decision.attempt == subject.attempt)
    if kind is DecisionKind.ROLLBACK:
        return of_player.where(Decision.version_id == subject.version_id)
    return of_player.where(Decision.gate_id == subject.gate_id)
