"""What keeps a trial from going on: failed attempts that no success of the same player or gate has followed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.events import read_event
from api.store.tables import Event, Trial

NEWEST = 200
"""Events that are looked at: a player that has failed more often than this still fails now."""
RETRIED = ("generation_retried", "weights_retried", "evaluation_retried")
RECORDED = "generation.recorded"
GATE_RETRIED = "gate_retried"
GATE_WENT_ON = ("gate.progress", "gate.finished")


def troubles_of(session: Session, trial_id: str) -> list[str]:
    """One sentence for each failed attempt that nothing has followed, the newest of each kind and player or gate.

    A trial that has ended has none: nothing of it is tried again.
    """
    trial = session.get(Trial, trial_id)
    if trial is None or trial.status.is_final:
        return []
    newest = select(Event).where(Event.trial_id == trial_id).order_by(Event.id.desc()).limit(NEWEST)
    going_on: set[str] = set()
    found: dict[tuple[str, str], str] = {}
    for event in session.scalars(newest):
        gate, player = _gate(event.payload), _player(event.payload)
        if event.type == RECORDED:
            going_on |= {player, ""}  # "": trouble with the initial weights is over, too
        elif event.type in GATE_WENT_ON:
            going_on.add(gate)
        elif event.type in (*RETRIED, GATE_RETRIED):
            whose = gate if event.type == GATE_RETRIED else player
            if whose not in going_on:
                found.setdefault((event.type, whose), read_event(event.type, event.payload).text)
    return list(found.values())


def _player(payload: Mapping[str, Any]) -> str:
    return str(payload.get("player_id") or payload.get("player") or "")


def _gate(payload: Mapping[str, Any]) -> str:
    return str(payload.get("gate_id") or payload.get("gate") or "")
