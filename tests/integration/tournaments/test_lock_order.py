"""Trials before schedules before tournaments, then aliases, and events last: who waits holds nothing others need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from api.schemas.enums import Overlap, TournamentStatus, TrialStatus
from api.store.core.ids import new_id
from api.store.tables import AliasEvent
from api.store.tournaments.schedules import Timing, create_schedule, sync_trial_schedules
from api.store.trials.create import create_trial
from api.store.trials.status import change_status
from orchestrator.contracts.tournaments import Firing
from orchestrator.spec.reading.checking import check_spec
from orchestrator.spec.tournament import check_tournament
from tests.integration.league_store.driver import MAIN, RANDOM, Store, league_file
from tests.integration.tournaments.hall import TIC_TAC_TOE, Hall, graded
from tests.integration.tournaments.test_field import hold, make

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
        sync_trial_schedules(session)
    with hall.sessions.begin() as session:
        change_status(session, over, TrialStatus.COMPLETED, "done")
        for name in ("one", "another"):
            create_trial(session, project=project, name=name, spec=check_spec(NIGHTLY))
    with heard(hall) as statements, hall.sessions.begin() as session:
        assert len(sync_trial_schedules(session)) >= 3
    assert_events_are_last(statements)


def test_an_end_moves_the_alias_after_all_other_rows(hall: Hall) -> None:
    league = Store.open(hall.engine, hall.artifacts).found(league_file(players=(MAIN, RANDOM)))
    league.live("main", 4)
    tournament = make(hall, league, entrants=["every:4/main", "bot:random"], games=10, cycles=4, promote={})
    scores = {"main v4-main v0": 9, "main v4-random": 9, "main v0-random": 5}
    scores |= {"main v0-main v4": 1, "random-main v4": 1, "random-main v0": 5}
    with heard(hall) as statements:
        hold(hall, tournament, scores)
    assert hall.count(AliasEvent, AliasEvent.tournament_id == tournament) == 1
    last = max(number for number, each in enumerate(statements) if each.startswith("SELECT schedules.id"))
    end = statements[last:]
    assert_events_are_last(end)
    locks = locking(end)
    assert place(locks, "SELECT schedules.id") < place(locks, "SELECT tournaments.id"), "as a firing locks them"
    assert place(end, "SELECT tournaments.id") < place(end, "pg_advisory_xact_lock(hashtextextended")
    assert place(end, "pg_advisory_xact_lock(hashtextextended") < place(end, "FROM aliases"), (
        "nobody moves it meanwhile"
    )
    assert place(end, "FROM aliases") < place(end, "INSERT INTO alias_events") < place(end, "INSERT INTO events")


def test_a_firing_ends_the_one_before_and_tells_of_it_last(hall: Hall) -> None:
    with heard(hall) as statements:
        first, second = fired(hall, Overlap.TERMINATE_OTHER, times=2)
    assert hall.row(first).status is TournamentStatus.CANCELLED
    assert hall.row(second).status is TournamentStatus.PENDING
    last = max(number for number, each in enumerate(statements) if "FROM schedules" in each and " FOR " in each)
    assert_events_are_last(statements[last:])


def test_a_firing_locks_the_trial_of_its_bots_before_its_schedule(hall: Hall) -> None:
    with heard(hall) as statements:
        fired(hall)
    locks = [each for each in statements if " FOR NO KEY UPDATE" in each]
    assert place(locks, "FROM trials") < place(locks, "FROM schedules")
    assert "FROM trials" not in " ".join(locks[place(locks, "FROM schedules") :])
