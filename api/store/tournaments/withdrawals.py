"""Withdraws entrants whose checkpoint is damaged; the tournament continues without them.

See docs/decisions/tournaments.md.
"""

from __future__ import annotations

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from api.schemas.enums import PairingStatus, TournamentStatus
from api.schemas.events import TournamentWithdrawn
from api.store.checkpoints.damaged import version_is_intact
from api.store.core.errors import Conflict, NotFound
from api.store.core.events import NewEvent, append_events
from api.store.tables import ModelVersion, Pairing, Tournament, TournamentEntrant
from api.store.tournaments.lifecycle import lock_tournament, tournament_payload
from api.store.tournaments.results import entrants_of
from orchestrator.storage.artifacts import ArtifactStore


def withdraw_damaged(
    session: Session, artifacts: ArtifactStore, tournament_id: str, number: tuple[int, int], problem: str
) -> None:
    """Withdraw the side of a pairing whose checkpoint is damaged. A second delivery finds it withdrawn.

    Its played games stay; its planned pairings are walkovers for its opponents.
    """
    pairing = session.get(Pairing, (tournament_id, *number))
    if pairing is None or pairing.second is None:
        raise NotFound(f"tournament {tournament_id} has no pairing {number} that is to be played")
    sides = {pairing.first, pairing.second}
    # before the lock: reading both files may be slow
    damaged = {
        each.number for each in _of(session, tournament_id, sides) if _is_damaged(session, artifacts, each, problem)
    }
    tournament = lock_tournament(session, tournament_id)
    if tournament.status is not TournamentStatus.RUNNING:
        return
    entrants = {each.number: each for each in _of(session, tournament_id, sides)}
    if not damaged and all(each.withdrawn is None for each in entrants.values()):
        raise Conflict(f"pairing {number} met a damaged checkpoint, but both of its files are intact: {problem}")
    events = [
        _withdraw(session, tournament, entrants[side], problem)
        for side in sorted(damaged)
        if entrants[side].withdrawn is None
    ]
    append_events(session, events)


def _of(session: Session, tournament_id: str, numbers: set[int]) -> list[TournamentEntrant]:
    return [each for each in entrants_of(session, tournament_id) if each.number in numbers]


def _is_damaged(session: Session, artifacts: ArtifactStore, entrant: TournamentEntrant, problem: str) -> bool:
    """Whether its file does not match its hash, or the problem names it as unreadable."""
    version = session.get_one(ModelVersion, entrant.version_id)
    return not version_is_intact(artifacts, version) or (version.sha256 is not None and version.sha256 in problem)


def _withdraw(session: Session, tournament: Tournament, entrant: TournamentEntrant, problem: str) -> NewEvent:
    entrant.withdrawn = f"its checkpoint is damaged: {problem}"
    waiting = session.scalars(
        select(Pairing).where(
            Pairing.tournament_id == tournament.id,
            Pairing.status == PairingStatus.PLANNED,
            or_(Pairing.first == entrant.number, Pairing.second == entrant.number),
        )
    ).all()
    for row in waiting:
        row.status = PairingStatus.CANCELLED
        row.walkover = row.second if row.first == entrant.number else row.first
    session.flush()
    payload = TournamentWithdrawn(
        **tournament_payload(tournament),
        entrant=entrant.label,
        version_id=entrant.version_id,
        reason=entrant.withdrawn,
        walkovers=len(waiting),
    )
    return NewEvent(trial_id=tournament.trial_id, payload=payload)
