"""What keeps a trial from going on: failed attempts since its players' last recorded generations."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.events import read_event
from api.store.tables import Event

NEWEST = 200
"""Events that are looked at: a player that has failed more often than this still fails now."""
RETRIED = ("generation_retried", "weights_retried", "evaluation_retried", "gate_retried")
RECORDED = "generation.recorded"


def troubles_of(session: Session, trial_id: str) -> list[str]:
    """One sentence for each failed attempt that nothing has followed, the newest of each kind and player."""
    newest = select(Event).where(Event.trial_id == trial_id).order_by(Event.id.desc()).limit(NEWEST)
    going_on: set[str] = set()
    found: dict[tuple[str, str], str] = {}
    for event in session.scalars(newest):
        whose = str(event.payload.get("player_id") or event.payload.get("player") or "")
        if event.type == RECORDED:
            going_on |= {whose, ""}  # initial weights exist, too
        elif event.type in RETRIED and whose not in going_on:
            found.setdefault((event.type, whose), read_event(event.type, event.payload).text)
    return list(found.values())
