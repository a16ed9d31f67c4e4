"""Retention: gives up the moves of old matches. Their results stay, and nothing is computed from moves.

Each transaction prunes some matches and writes an event for each of their trials, so a process that dies between any
two steps leaves nothing wrong: what is not pruned yet is found again. Two at once prune different matches.

See docs/decisions/checkpoints-and-artifacts.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Row,
    Select,
    any_,
    false,
    func,
    literal,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.orm import Session, sessionmaker

from api.schemas.enums import GateStatus, ProbeStatus, TournamentStatus
from api.schemas.events import MatchesPruned
from api.store.core.events import NewEvent, append_events
from api.store.tables import Alias, Gate, Match, Probe, ShareLink, Tournament, Trial

LEAST_AGE = timedelta(days=1)
AT_ONCE = 5_000
"""Matches of one transaction."""
_OPEN_GATES = (GateStatus.WAITING, GateStatus.RUNNING)
_OPEN_PROBES = tuple(status for status in ProbeStatus if not status.is_final)
_OPEN_TOURNAMENTS = (TournamentStatus.PENDING, TournamentStatus.RUNNING)


@dataclass(frozen=True, kw_only=True)
class PrunedMatches:
    """What was pruned of one trial, or would be."""

    trial_id: str | None
    """None for tournaments of a whole project."""
    trial: str
    matches: int
    size: int
    """Bytes that their moves take in the table, compressed."""


def prune_matches(
    sessions: sessionmaker[Session], age: timedelta, *, at_most: int | None = None, dry_run: bool = False
) -> list[PrunedMatches]:
    """Prune the moves of matches that are older, the oldest first, trial by trial in the result."""
    if age < LEAST_AGE:
        raise ValueError("matches keep their moves for at least a day")
    with sessions() as session:
        before: datetime = session.execute(select(func.now() - age)).scalar_one()
    matches: Counter[str | None] = Counter()
    sizes: Counter[str | None] = Counter()
    after: tuple[datetime, int] | None = None
    while at_most is None or matches.total() < at_most:
        few = AT_ONCE if at_most is None else min(AT_ONCE, at_most - matches.total())
        with sessions.begin() as session:
            found = session.execute(_due(before, after, few, lock=not dry_run)).all()
            if found and not dry_run:
                _prune(session, found, before)
        if not found:
            break
        after = found[-1].played_at, found[-1].id
        matches.update(row.trial_id for row in found)
        sizes.update(_sizes(found))
    with sessions() as session:
        return [
            PrunedMatches(trial_id=trial_id, trial=_name(session, trial_id), matches=count, size=sizes[trial_id])
            for trial_id, count in matches.items()
        ]


def _due(before: datetime, after: tuple[datetime, int] | None, few: int, *, lock: bool) -> Select[Any]:
    """Old matches that have moves which nobody needs, in the order of their age."""
    due = (  # "0" as it is written in the index: a parameter would not prove that the index fits
        select(Match.id, Match.played_at, Match.trial_id, func.pg_column_size(Match.moves).label("size"))
        .where(
            Match.moves_pruned_at.is_(None), Match.plies > literal_column("0"), Match.played_at < before, ~_is_needed()
        )
        .order_by(Match.played_at, Match.id)
        .limit(few)
    )
    if after is not None:
        due = due.where(tuple_(Match.played_at, Match.id) > after)
    return due.with_for_update(of=Match, key_share=True, skip_locked=True) if lock else due


def _is_needed() -> ColumnElement[bool]:
    """Whether it is of something open or shared, or a game of a version that an alias names now."""
    shared = (ShareLink.revoked_at.is_(None), ShareLink.expires_at > func.now())
    aliased = select(Alias.version_id)
    needed = or_(
        Match.gate_id.in_(select(Gate.id).where(Gate.status.in_(_OPEN_GATES))),
        Match.tournament_id.in_(select(Tournament.id).where(Tournament.status.in_(_OPEN_TOURNAMENTS))),
        Match.tournament_id.in_(select(Probe.tournament_id).where(Probe.status.in_(_OPEN_PROBES))),
        Match.trial_id.in_(select(ShareLink.trial_id).where(*shared)),
        Match.tournament_id.in_(select(ShareLink.tournament_id).where(*shared)),
        Match.version_id.in_(aliased),
        Match.opponent_version_id.in_(aliased),
    )
    return func.coalesce(needed, false())  # a match without a gate, say, is not known to be outside of the open ones


def _prune(session: Session, found: Sequence[Row[Any]], before: datetime) -> None:
    ids = literal([row.id for row in found], ARRAY(BigInteger))
    session.execute(
        update(Match).where(Match.id == any_(ids)).values(moves=None, moves_pruned_at=func.now()),
        execution_options={"synchronize_session": False},
    )
    matches, sizes = Counter(row.trial_id for row in found), _sizes(found)
    append_events(
        session,
        [
            NewEvent(
                trial_id=trial_id,
                payload=MatchesPruned(matches=count, bytes=sizes[trial_id], before=before.isoformat()),
            )
            for trial_id, count in matches.items()
        ],
    )


def _sizes(found: Iterable[Row[Any]]) -> Counter[str | None]:
    sizes: Counter[str | None] = Counter()
    for row in found:
        sizes[row.trial_id] += row.size
    return sizes


def _name(session: Session, trial_id: str | None) -> str:
    return "tournaments of projects" if trial_id is None else session.get_one(Trial, trial_id).name
