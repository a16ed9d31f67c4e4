"""Decisions: why the league did what it did. Each is recorded once; a second delivery finds the first one."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Select, insert, select
from sqlalchemy.orm import Session

from api.schemas.decisions import Decision as DecisionAnswer
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import Decision, Player
from league.types import Decision as Verdict
from league.types import DecisionKind

_OF_GENERATION = frozenset(
    {DecisionKind.MATCHMAKING, DecisionKind.SNAPSHOT, DecisionKind.RESET, DecisionKind.POPULATION}
)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What a decision is about. Together with the kind it is the key that finds a recorded decision.

    Matchmaking, snapshot, reset and population: player, generation and attempt. Rollback: player and the damaged
    version. Promotion: the gate.
    """

    trial_id: str
    player_id: str
    generation: int | None = None
    attempt: int = 1
    version_id: str | None = None
    gate_id: str | None = None


def record_decision(session: Session, subject: Subject, verdict: Verdict, commit: int | None = None) -> Decision:
    """Insert a decision; a second one with the same key violates a unique index."""
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
    """The decision of this kind on the subject, if there is one."""
    return session.scalars(_by_key(subject, kind)).one_or_none()


def _by_key(subject: Subject, kind: DecisionKind) -> Select[Decision]:
    of_player = select(Decision).where(Decision.kind == kind, Decision.player_id == subject.player_id)
    if kind in _OF_GENERATION:
        return of_player.where(Decision.generation == subject.generation, Decision.attempt == subject.attempt)
    if kind is DecisionKind.ROLLBACK:
        return of_player.where(Decision.version_id == subject.version_id)
    return of_player.where(Decision.gate_id == subject.gate_id)


@dataclass(frozen=True, kw_only=True)
class DecisionFilter:
    """Selects decisions."""

    kinds: tuple[DecisionKind, ...] = ()
    player_id: str | None = None
    generation: int | None = None


def list_decisions(
    session: Session, trial_id: str, which: DecisionFilter, *, before: int | None, limit: int
) -> list[Record]:
    """Decisions of a trial, newest first, each with `player`, the name of its player."""
    query = _NAMED.where(_DECISIONS.c.trial_id == trial_id).order_by(_DECISIONS.c.id.desc()).limit(limit)
    if which.kinds:
        query = query.where(_DECISIONS.c.kind.in_(which.kinds))
    if which.player_id is not None:
        query = query.where(_DECISIONS.c.player_id == which.player_id)
    if which.generation is not None:
        query = query.where(_DECISIONS.c.generation == which.generation)
    if before is not None:
        query = query.where(_DECISIONS.c.id < before)
    return read_records(session, query)


# tables instead of entities: a list of entities costs several times as much to read
_DECISIONS, _PLAYERS = Decision.__table__, Player.__table__
_NAMED = select(*fields_of(DecisionAnswer, _DECISIONS, _PLAYERS.c.name.label("player"))).select_from(
    _DECISIONS.outerjoin(_PLAYERS, _PLAYERS.c.id == _DECISIONS.c.player_id)
)
