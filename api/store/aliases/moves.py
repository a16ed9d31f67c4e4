"""Moves aliases, under a lock on the alias's name, and records each move in its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Select, func, insert, select, text
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from api.schemas.enums import AliasMove
from api.schemas.events import AliasMoved
from api.store.core.errors import Conflict, NotFound
from api.store.core.events import NewEvent, append_events
from api.store.players.pruned import refuse_pruned
from api.store.players.versions import other_trial, version_name
from api.store.tables import Alias, AliasEvent, ModelVersion


@dataclass(frozen=True, kw_only=True)
class AliasKey:
    """The key of an alias: names are unique within a project and game."""

    project_id: str
    game: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Promotion:
    """Why an alias moves, who moves it, and the evidence."""

    reason: str
    actor: str
    move: AliasMove = AliasMove.SET
    gate_id: str | None = None
    tournament_id: str | None = None
    evidence: dict[str, Any] = field(default_factory=dict)


def lock_alias(session: Session, key: AliasKey) -> None:
    """Take the advisory lock of an alias, which need not exist. Moves of it and changes of its gates wait for it.

    Lock order: trial, schedule, tournament, this lock, the alias row.
    """
    name = f"gates:{key.project_id}:{key.game}:{key.name}"
    session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": name})


def move_alias(
    session: Session, key: AliasKey, version_id: str, promotion: Promotion, *, if_revision: int | None = None
) -> Alias:
    """Point the alias at a version. Its present version, or a gate's second delivery, changes nothing.

    `if_revision` refuses the move unless the alias is still at that revision (0: does not exist yet).
    """
    lock_alias(session, key)
    alias, created = _locked(session, key, version_id)
    if promotion.gate_id is not None and _moved_by_gate(session, promotion.gate_id):
        return alias
    present = 0 if created else alias.revision
    if if_revision is not None and if_revision != present:
        raise Conflict(f"alias {key.name!r} is at revision {present}, not {if_revision}; read it again")
    if not created and alias.version_id == version_id:
        return alias
    # what a gate, tournament or sweep promotes is kept for that, and its transaction may hold the lock of events by now
    refuse_pruned(session, version_id, lock=promotion.move is AliasMove.SET)
    from_version_id = None if created else alias.version_id
    if not created:
        alias.version_id = version_id
        alias.revision += 1
        alias.moved_at = func.now()
    session.flush()
    _add_history(session, key, alias, from_version_id, promotion)
    return alias


def roll_back_alias(session: Session, key: AliasKey, promotion: Promotion) -> Alias:
    """Point the alias back at its previous version; a second call goes back one version further."""
    lock_alias(session, key)
    alias = session.scalars(_select(key).with_for_update()).one_or_none()
    if alias is None:
        raise NotFound(f"there is no alias {key.name!r} for {key.game}")
    holders = _holders(alias_history(session, key))
    if len(holders) < 2:
        raise Conflict(f"alias {key.name!r} has no earlier version to roll back to")
    return move_alias(session, key, holders[-2], replace(promotion, move=AliasMove.ROLLED_BACK))


def alias_history(session: Session, key: AliasKey) -> Sequence[AliasEvent]:
    """Every move of the alias, oldest first."""
    return session.scalars(
        select(AliasEvent)
        .where(AliasEvent.project_id == key.project_id, AliasEvent.game == key.game, AliasEvent.name == key.name)
        .order_by(AliasEvent.revision)
    ).all()


def _holders(history: Sequence[AliasEvent]) -> list[str]:
    """The versions that held the alias, without those rolled back: a second rollback must not undo the first."""
    holders: list[str] = []
    for event in history:
        if event.move is AliasMove.ROLLED_BACK:
            holders.pop()
        else:
            holders.append(event.to_version_id)
    return holders


def _locked(session: Session, key: AliasKey, version_id: str) -> tuple[Alias, bool]:
    """The alias row, locked, and whether it was created; of two concurrent creators the second waits and finds it."""
    made = session.scalar(
        upsert(Alias)
        .values(project_id=key.project_id, game=key.game, name=key.name, version_id=version_id, revision=1)
        .on_conflict_do_nothing()
        .returning(Alias.name)
    )
    return session.scalars(_select(key).with_for_update()).one(), made is not None


def _select(key: AliasKey) -> Select[Alias]:
    return (
        select(Alias)
        .where(Alias.project_id == key.project_id, Alias.game == key.game, Alias.name == key.name)
        .execution_options(populate_existing=True)
    )


def _moved_by_gate(session: Session, gate_id: str) -> bool:
    return session.scalar(select(AliasEvent.id).where(AliasEvent.gate_id == gate_id)) is not None


def _add_history(
    session: Session, key: AliasKey, alias: Alias, from_version_id: str | None, promotion: Promotion
) -> None:
    session.execute(
        insert(AliasEvent).values(
            project_id=key.project_id,
            game=key.game,
            name=key.name,
            revision=alias.revision,
            move=promotion.move,
            from_version_id=from_version_id,
            to_version_id=alias.version_id,
            reason=promotion.reason,
            actor=promotion.actor,
            gate_id=promotion.gate_id,
            tournament_id=promotion.tournament_id,
            evidence=promotion.evidence,
        )
    )
    trial_id = session.scalars(select(ModelVersion.trial_id).where(ModelVersion.id == alias.version_id)).one()
    before = None if from_version_id is None else other_trial(session, from_version_id, than=trial_id)
    payload = AliasMoved(
        project_id=key.project_id,
        game=key.game,
        alias=key.name,
        revision=alias.revision,
        move=promotion.move,
        from_version_id=from_version_id,
        from_version=None if from_version_id is None else version_name(session, from_version_id),
        from_trial_id=None if before is None else before.id,
        from_trial=None if before is None else before.name,
        to_version_id=alias.version_id,
        to_version=version_name(session, alias.version_id),
        reason=promotion.reason,
    )
    append_events(session, [NewEvent(trial_id=trial_id, payload=payload)])
