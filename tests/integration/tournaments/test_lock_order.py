"""Schedules before tournaments, aliases after both, and events last of all: whoever waits holds nothing others need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.orm import Session

from api.store import tournaments
from api.store.events import NewEvent, append_events
from api.store.ids import new_id
from api.store.models import Tournament
from api.store.models.words import Overlap, TournamentStatus, TrialStatus
from api.store.schedules import Timing, create_schedule, follow_trial_files
from api.store.tournaments import end_tournament
from api.store.trials import change_status, create_trial
from orchestrator.contracts.tournaments import Firing
from orchestrator.spec.checking import check_spec
from orchestrator.spec.tournament import check_tournament
from tests.integration.tournaments.hall import TIC_TAC_TOE, Hall, graded

NIGHTLY = {"game": TIC_TAC_TOE, "evaluation": {"schedule": "0 3 * * *"}}


@contextmanager
def heard(hall: Hall) -> Iterator[list[str]]:
    """The statements that reach the database."""
    statements: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        statements.append(" ".join(statement.split()))

    event.listen(hall.engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(hall.engine, "before_cursor_execute", note)


def locking(statements: list[str]) -> list[str]:
    """Those that lock or write rows, in order."""
    return [each for each in statements if each.startswith(("INSERT", "UPDATE", "DELETE")) or " FOR " in each]


def place(statements: list[str], words: str) -> int:
    return next(number for number, each in enumerate(statements) if words in each)


def assert_events_are_last(statements: list[str]) -> None:
    first = place(statements, "INSERT INTO events")
    assert [each for each in locking(statements[first:]) if not each.startswith("INSERT INTO events")] == []


def fired(hall: Hall, overlap: Overlap = Overlap.SKIP, times: int = 1) -> list[str]:
    """Tournaments of a new schedule."""
    spec = check_tournament({"game": TIC_TAC_TOE, "entrants": graded(2), "games": 2})
    timing = Timing(every_seconds=60, overlap=overlap)
    with hall.sessions.begin() as session:
        schedule = create_schedule(session, new_id(), "often", timing, spec).id
    firings = [Firing(schedule=schedule, occasion=f"{schedule}-{number}") for number in range(times)]
    return [hall.store["open_scheduled_tournament"](firing).tournament for firing in firings]


def test_schedules_of_trial_files_are_made_and_paused_before_their_events(hall: Hall) -> None:
    project = new_id()
    with hall.sessions.begin() as session:
        over = create_trial(session, project=project, name="over", spec=check_spec(NIGHTLY)).id
        follow_trial_files(session)
    with hall.sessions.begin() as session:
        change_status(session, over, TrialStatus.COMPLETED, "done")
        for name in ("one", "another"):
            create_trial(session, project=project, name=name, spec=check_spec(NIGHTLY))
    with heard(hall) as statements, hall.sessions.begin() as session:
        assert len(follow_trial_files(session)) >= 3
    assert_events_are_last(statements)


def test_an_end_moves_the_alias_after_all_other_rows(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(session: Session, tournament: Tournament) -> list[NewEvent]:
        append_events(session, [NewEvent(type="alias.moved", trial_id=None, payload={"tournament": tournament.id})])
        return []

    monkeypatch.setattr(tournaments, "promote_leader", told)
    (tournament,) = fired(hall)
    with heard(hall) as statements, hall.sessions.begin() as session:
        end_tournament(session, tournament, TournamentStatus.COMPLETED, "")
    assert_events_are_last(statements)
    locks = locking(statements)
    assert place(locks, "SELECT schedules.id") < place(locks, "SELECT tournaments.id"), "as a firing locks them"


def test_a_firing_ends_the_one_before_and_tells_of_it_last(hall: Hall) -> None:
    with heard(hall) as statements:
        first, second = fired(hall, Overlap.TERMINATE_OTHER, times=2)
    assert hall.row(first).status is TournamentStatus.CANCELLED
    assert hall.row(second).status is TournamentStatus.PENDING
    last = max(number for number, each in enumerate(statements) if "FROM schedules" in each and " FOR " in each)
    assert_events_are_last(statements[last:])
