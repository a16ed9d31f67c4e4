"""Reads probes, as answers show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import ProbeStatus
from api.schemas.probes import Probe as ProbeAnswer
from api.schemas.probes import ProbePart, ProbeResponder, ProbeTrialRef
from api.store.core.errors import NotFound
from api.store.probes.advance import trials_of
from api.store.probes.create import target_name
from api.store.tables import ModelVersion, Player, Probe


@dataclass(frozen=True, kw_only=True)
class ProbeFilter:
    """Selects probes."""

    trial_id: str | None = None
    version_id: str | None = None
    statuses: tuple[ProbeStatus, ...] = ()


def read_probe(session: Session, probe_id: str) -> ProbeAnswer:
    """One probe."""
    row = session.get(Probe, probe_id)
    if row is None:
        raise NotFound(f"there is no probe {probe_id}")
    return _answer(session, row)


def list_probes(session: Session, which: ProbeFilter, *, before: str | None, limit: int) -> Sequence[ProbeAnswer]:
    """Probes, the newest first."""
    query = select(Probe).order_by(Probe.id.desc()).limit(limit)
    if which.trial_id is not None:
        query = query.where(Probe.trial_id == which.trial_id)
    if which.version_id is not None:
        query = query.where(Probe.version_id == which.version_id)
    if which.statuses:
        query = query.where(Probe.status.in_(which.statuses))
    if before is not None:
        query = query.where(Probe.id < before)
    return [_answer(session, row) for row in session.scalars(query)]


def _answer(session: Session, row: Probe) -> ProbeAnswer:
    version = None if row.version_id is None else session.get_one(ModelVersion, row.version_id)
    player = None if version is None else session.get_one(Player, version.player_id)
    shown = set(ProbeResponder.model_fields)
    responders = row.results.get("responders", [])
    return ProbeAnswer(
        id=row.id,
        trial_id=row.trial_id,
        version_id=row.version_id,
        target=target_name(row),
        player=None if player is None else player.name,
        version_steps=None if version is None else version.steps,
        parts=[ProbePart(**part) for part in row.target["parts"]],
        spec=row.spec,
        status=row.status,
        status_reason=row.status_reason,
        trials=[
            ProbeTrialRef(trial_id=trial.id, name=trial.name, status=trial.status, steps=trial.steps)
            for trial in trials_of(session, row.id)
        ],
        tournament_id=row.tournament_id,
        responders=[ProbeResponder(**{name: each[name] for name in shown}) for each in responders],
        win_rate=row.win_rate,
        low=row.low,
        high=row.high,
        created_at=row.created_at,
        finished_at=row.finished_at,
    )
