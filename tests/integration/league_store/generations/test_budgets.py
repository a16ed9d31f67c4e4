"""The last generations of a budget are shorter; imports and aliases of a trial's own."""

from __future__ import annotations

import pytest
from sqlalchemy import func, update
from temporalio.exceptions import ApplicationError

from api.schemas.enums import TrialStatus
from api.store.players.import_weights import import_version
from api.store.tables import Alias, Event, Trial
from api.store.trials.troubles import troubles_of
from tests.integration.league_store.driver import EXPLOITER, MAIN, RANDOM, STEPS, Store, league_file

BUDGET = {"generation": {"steps": STEPS}, "budget": {"steps": 2 * STEPS + 300}}


def test_a_trial_ends_close_to_its_budget(store: Store) -> None:
    league = store.found({**league_file(), **BUDGET})
    assert [league.plan("main").steps, league.live("main") and league.plan("main").steps] == [STEPS, STEPS]
    league.live("main")
    assert league.plan("main").steps == 300


def test_what_is_under_way_counts_as_used(store: Store) -> None:
    league = store.found({**league_file(players=(MAIN, EXPLOITER, RANDOM)), **BUDGET})
    league.live("main")
    assert league.plan("main").steps == STEPS
    assert league.plan("exploiter").steps == 300
    again = league.plan("exploiter")
    assert again.steps == 300, "a plan that is recorded stays as it is"


def test_a_player_waits_while_others_use_up_the_rest(store: Store) -> None:
    third = {"name": "third", "role": "main"}
    league = store.found({**league_file(players=(MAIN, EXPLOITER, third, RANDOM)), **BUDGET})
    league.live("main")
    assert [league.plan(name).steps for name in ("main", "exploiter")] == [STEPS, 300]
    with pytest.raises(ApplicationError, match="the rest of the budget is under way"):
        league.plan("third")


def test_weights_are_imported_into_an_ended_trial(store: Store) -> None:
    league = store.found()
    with store.sessions.begin() as session:
        ended = {"status": TrialStatus.COMPLETED, "finished_at": func.now()}
        session.execute(update(Trial).where(Trial.id == league.trial).values(ended))
    with store.sessions.begin() as session:
        import_version(session, league.trial, "veteran", store.weights("elsewhere"))
    assert league.player("veteran").role == "historical"


def test_a_trial_may_have_an_alias_of_its_own(store: Store) -> None:
    league = store.found(league_file(champion_gate={"alias": "mine"}))
    for _ in range(2):
        league.live("main")
    held = store.rows(Alias, Alias.project_id == league.row.project_id)
    assert [alias.name for alias in held] == ["mine"]


def test_failed_attempts_are_told_until_a_generation_is_recorded(store: Store) -> None:
    league = store.found()
    main = league.player("main")
    payload = {"player": main.id, "name": "main", "generation": 1, "failure": "crew_lost", "problem": "it died"}
    with store.sessions.begin() as session:
        for tries in (1, 2):
            session.add(Event(trial_id=league.trial, type="generation_retried", payload={**payload, "tries": tries}))
            session.flush()
    with store.sessions() as session:
        (trouble,) = troubles_of(session, league.trial)
    assert "attempt 2 failed" in trouble and "it died" in trouble
    league.live("main")
    with store.sessions() as session:
        assert troubles_of(session, league.trial) == []


def test_an_ended_trial_has_no_troubles(store: Store) -> None:
    league = store.found()
    payload = {"player": league.player("main").id, "name": "main", "generation": 1, "failure": "crew_lost", "tries": 1}
    with store.sessions.begin() as session:
        session.add(Event(trial_id=league.trial, type="generation_retried", payload=payload))
    with store.sessions.begin() as session:
        assert len(troubles_of(session, league.trial)) == 1
        ended = {"status": TrialStatus.FAILED, "finished_at": func.now()}
        session.execute(update(Trial).where(Trial.id == league.trial).values(ended))
        assert troubles_of(session, league.trial) == []
