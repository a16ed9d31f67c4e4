"""Creates a tournament with its entrants in one transaction, and ends it once."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from api.schemas.enums import PairingStatus, TournamentPurpose, TournamentStatus
from api.schemas.events import TournamentCreated, TournamentFinished
from api.store.core.clock import now
from api.store.core.errors import Conflict, NotFound
from api.store.core.events import NewEvent, append_events
from api.store.core.ids import new_id
from api.store.matches.openings import check_games_differ
from api.store.tables import Pairing, Project, Schedule, Tournament, TournamentEntrant, Trial
from api.store.tournaments.entrants import Arena, LabelledVersion, by_rating, resolve_entrants
from api.store.tournaments.promotion import promote_leader
from api.store.trials.names import is_named
from api.store.trials.projects import ensure_project
from api.store.trials.spec import spec_of
from orchestrator.spec.tournament import TournamentSpec

FINAL = (TournamentStatus.COMPLETED, TournamentStatus.CANCELLED, TournamentStatus.FAILED)
MAX_PAIRINGS = 200_000


@dataclass(frozen=True, kw_only=True)
class CreatedFor:
    """Why a tournament was created: a user's request, a schedule's firing, or the evaluation of a generation.

    Each firing and each evaluation has one tournament.
    """

    purpose: TournamentPurpose = TournamentPurpose.REQUEST
    schedule_id: str | None = None
    occasion: str | None = None
    """The id of the workflow of a schedule's firing."""
    player_id: str | None = None
    generation: int | None = None


REQUESTED = CreatedFor()


@dataclass(frozen=True, kw_only=True)
class Closed:
    """A tournament that was just ended, and its event."""

    row: Tournament
    event: NewEvent


def create_tournament(
    session: Session,
    project: str,
    spec: TournamentSpec,
    *,
    created_for: CreatedFor = REQUESTED,
    name: str | None = None,
    started: bool = False,
) -> Tournament:
    """A pending tournament with its field, or the one that exists for the same firing or evaluation.

    `started` is for a tournament that a running workflow creates for itself: reconciliation must not start another.
    """
    known = find_tournament(session, created_for)
    if known is not None:
        return known
    arena = find_arena(session, project, spec)
    challengers, field = _field(session, arena, spec)
    tournament = Tournament(
        id=new_id(),
        project_id=arena.project_id,
        trial_id=None if arena.trial is None else arena.trial.id,
        schedule_id=created_for.schedule_id,
        occasion=created_for.occasion,
        purpose=created_for.purpose,
        player_id=created_for.player_id,
        generation=created_for.generation,
        game=arena.key,
        name=name or spec.name,
        format=spec.format,
        status=TournamentStatus.PENDING,
        seed=secrets.randbits(53) if spec.seed is None else spec.seed,
        # the entrants are fixed by number: the rules may find other versions later
        spec={**spec.to_json(), "game": arena.game.to_json(), "challenger_count": len(challengers)},
        workflow_started_at=now(session) if started else None,
    )
    session.add(tournament)
    session.flush()
    rows = [
        {"tournament_id": tournament.id, "number": number, "version_id": each.version.id, "label": label}
        for number, (each, label) in enumerate(_labelled([*challengers, *field]))
    ]
    session.execute(insert(TournamentEntrant), rows)
    session.refresh(tournament)
    created = TournamentCreated(**tournament_payload(tournament), entrants=len(rows))
    append_events(session, [NewEvent(trial_id=tournament.trial_id, payload=created)])
    return tournament


def find_tournament(session: Session, created_for: CreatedFor) -> Tournament | None:
    """The tournament of a schedule's firing or of an evaluation, if there is one; none for a request."""
    if created_for.purpose is TournamentPurpose.REQUEST:
        return None
    if created_for.purpose is TournamentPurpose.SCHEDULE:
        query = select(Tournament).where(Tournament.occasion == created_for.occasion)
    else:
        query = select(Tournament).where(
            Tournament.player_id == created_for.player_id,
            Tournament.generation == created_for.generation,
            Tournament.purpose == created_for.purpose,
        )
    return session.scalars(query).one_or_none()


def find_arena(session: Session, project: str, spec: TournamentSpec) -> Arena:
    """The project, game and trial that a tournament names."""
    if spec.trial is None:
        assert spec.game is not None, "the spec holds one of the two"
        check_games_differ(spec, spec.game.id)
        return Arena(project_id=ensure_project(session, project), game=spec.game, trial=None)
    trial = session.scalars(
        select(Trial).join(Project, Project.id == Trial.project_id).where(Project.name == project, is_named(spec.trial))
    ).one_or_none()
    if trial is None:
        raise NotFound(f"project {project!r} has no trial named {spec.trial!r}")
    game = spec_of(trial).game
    check_games_differ(spec, game.id)
    return Arena(project_id=trial.project_id, game=game, trial=trial)


def lock_tournament(session: Session, tournament_id: str, *, shared: bool = False) -> Tournament:
    """The tournament, read under a lock: FOR SHARE for recorders, FOR NO KEY UPDATE for planners."""
    tournament = session.scalars(
        select(Tournament)
        .where(Tournament.id == tournament_id)
        .with_for_update(read=shared, key_share=not shared)
        .execution_options(populate_existing=True)
    ).one_or_none()
    if tournament is None:
        raise NotFound(f"there is no tournament {tournament_id}")
    return tournament


def end_tournament(session: Session, tournament_id: str, status: TournamentStatus, reason: str) -> Tournament:
    """End a tournament: played pairings stay, planned ones are cancelled. Ending it again changes nothing."""
    closed = close_tournament(session, tournament_id, status, reason)
    if closed is None:
        return session.get_one(Tournament, tournament_id)
    # the alias comes last: its move writes an event, and no lock may be taken after that
    judged = promote_leader(session, closed.row) if status is TournamentStatus.COMPLETED else []
    append_events(session, [*judged, closed.event])
    return closed.row


def close_tournament(session: Session, tournament_id: str, status: TournamentStatus, reason: str) -> Closed | None:
    """End a tournament and return its event, to be written last; None if it was over already."""
    _lock_schedule_of(session, tournament_id)
    tournament = lock_tournament(session, tournament_id)
    if tournament.status in FINAL:
        return None
    cancelled = session.execute(
        update(Pairing)
        .where(Pairing.tournament_id == tournament_id, Pairing.status == PairingStatus.PLANNED)
        .values(status=PairingStatus.CANCELLED)
        .returning(Pairing.pair)
    ).all()
    moment = now(session)
    tournament.status, tournament.status_reason, tournament.finished_at = status, reason or None, moment
    if tournament.schedule_id is not None:
        failed = status is TournamentStatus.FAILED
        session.execute(
            update(Schedule)
            .where(Schedule.id == tournament.schedule_id)
            .values(last_error=f"tournament {tournament.id}: {reason}" if failed else None)
        )
    session.flush()
    finished = TournamentFinished(
        **tournament_payload(tournament), status=status, reason=reason, cancelled_pairings=len(cancelled)
    )
    return Closed(row=tournament, event=NewEvent(trial_id=tournament.trial_id, payload=finished))


def _lock_schedule_of(session: Session, tournament_id: str) -> None:
    """Lock order: a schedule before its tournaments."""
    of = select(Tournament.schedule_id).where(Tournament.id == tournament_id).scalar_subquery()
    session.execute(select(Schedule.id).where(Schedule.id == of).with_for_update(key_share=True))


def tournament_payload(tournament: Tournament) -> dict[str, Any]:
    """The fields that every event about a tournament has."""
    return {
        "tournament_id": tournament.id,
        "project_id": tournament.project_id,
        "name": tournament.name,
        "format": tournament.format,
    }


def _field(session: Session, arena: Arena, spec: TournamentSpec) -> tuple[list[LabelledVersion], list[LabelledVersion]]:
    challengers = resolve_entrants(session, arena, spec.challengers)
    known = {each.policy for each in challengers}
    field = [each for each in resolve_entrants(session, arena, spec.entrants) if each.policy not in known]
    if spec.seeding == "rating":
        challengers, field = by_rating(session, arena, challengers), by_rating(session, arena, field)
    count = len(challengers) + len(field)
    if spec.format == "gauntlet" and not (challengers and field):
        raise Conflict(
            f"a gauntlet needs a challenger and a field: {list(spec.challengers)} name {len(challengers)}, "
            f"{list(spec.entrants)} name {len(field)} others"
        )
    if count < 2:
        raise Conflict(f"a tournament needs at least two entrants; {list(spec.entrants)} name {count}")
    pairings = count * (count - 1) // 2 * (spec.cycles or 1)
    if spec.format == "round_robin" and pairings > MAX_PAIRINGS:
        raise Conflict(f"a round robin of {count} entrants has {pairings} pairings; {MAX_PAIRINGS} are allowed")
    return challengers, field


def _labelled(candidates: list[LabelledVersion]) -> list[tuple[LabelledVersion, str]]:
    """Candidates with distinct labels."""
    taken: set[str] = set()
    labelled = []
    for number, each in enumerate(candidates):
        label = each.label if each.label not in taken else f"{each.label} #{number}"
        taken.add(label)
        labelled.append((each, label))
    return labelled
