"""Turns: who trains first, and whose generation waits so that players of few crews stay level."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import update
from temporalio.exceptions import ApplicationError

from api.store.tables import Player
from league.training_priority import GENERATIONS_COMPARED, Urgency
from league.types import Role
from orchestrator.contracts.trials import AddPlayer, ChangePlayer, StatusChange
from tests.integration.league_store.driver import EXPLOITER, MAIN, RANDOM, STEPS, Store, league_file

LONG = timedelta(days=1)


def test_who_is_behind_the_others_of_its_trial_trains_first(store: Store) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER, RANDOM]))
    assert league.plan("main").urgency == league.plan("exploiter").urgency == Urgency.IN_STEP
    league.learn("main")
    assert league.plan("exploiter").urgency == Urgency.BEHIND
    league.live("main", 2)
    assert league.plan("exploiter").urgency == Urgency.FAR_BEHIND
    assert league.plan("main").urgency == Urgency.IN_STEP
    league.live("exploiter", 3)
    assert league.plan("exploiter").urgency == league.plan("main").urgency == Urgency.IN_STEP


def test_only_the_newest_generations_say_who_is_behind(store: Store) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER]))
    league.live("main", 2 * GENERATIONS_COMPARED + 3)
    assert league.plan("exploiter").urgency == Urgency.FAR_BEHIND
    league.live("exploiter", GENERATIONS_COMPARED)
    assert league.plan("exploiter").urgency == Urgency.IN_STEP, "it need not make up for what was long before"


def test_nobody_is_behind_a_player_that_has_retired(store: Store) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER]))
    league.live("exploiter", 3)
    store("change_player", ChangePlayer(trial=league.trial, player=league.player("exploiter").id, retire=True))
    assert league.plan("main").urgency == Urgency.IN_STEP
    league.live("main", 7)
    assert league.plan("exploiter").urgency == Urgency.IN_STEP, "who leaves need not catch up"


def test_a_generation_that_leads_too_far_waits_for_the_other_player(store: Store) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER, RANDOM]))
    store("change_status", StatusChange(trial=league.trial, status="running"))
    league.learn("exploiter", crews=1)
    early = league.report(league.plan("exploiter"), crews=1)
    for _ in range(2):
        with pytest.raises(ApplicationError, match="recorded after the next one of main") as held:
            store("record_generation", early)
        assert held.value.next_retry_delay is not None and not held.value.non_retryable
    assert store("record_generation", league.report(league.plan("main"), crews=1)).commit
    assert store("record_generation", early).player_steps == 2 * STEPS


@pytest.mark.parametrize("crews", [0, 1024])
def test_nobody_waits_where_each_learner_can_have_a_crew(store: Store, crews: int) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER]))
    store("change_status", StatusChange(trial=league.trial, status="running"))
    for _ in range(3):
        league.learn("exploiter", crews=crews)


def test_a_player_that_would_wait_for_another_is_planned_after_it(store: Store) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER]))
    store("change_status", StatusChange(trial=league.trial, status="running"))
    league.learn("exploiter", crews=1)
    key = replace(league.key("exploiter"), crews=1)
    with pytest.raises(ApplicationError, match="planned after the next one of main"):
        store("plan_generation", key)
    league.plan("main")
    assert store("plan_generation", key).generation == 2


@pytest.mark.parametrize("status", ["pausing", "stopping"])
def test_a_trial_that_pauses_or_ends_records_what_waited(store: Store, status: str) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER]))
    store("change_status", StatusChange(trial=league.trial, status="running"))
    league.learn("exploiter", crews=1)
    early = league.report(league.plan("exploiter"), crews=1)
    with pytest.raises(ApplicationError):
        store("record_generation", early)
    store("change_status", StatusChange(trial=league.trial, status=status))
    assert store("record_generation", early).player_steps == 2 * STEPS


def test_nobody_waits_for_a_player_that_has_long_been_silent(store: Store) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER]))
    store("change_status", StatusChange(trial=league.trial, status="running"))
    league.learn("exploiter", crews=1)
    with store.sessions.begin() as session:
        session.execute(update(Player).where(Player.name == "main").values(created_at=Player.created_at - LONG))
    league.learn("exploiter", crews=1)
    league.plan("main")
    with pytest.raises(ApplicationError, match="after the next one of main"):
        league.learn("exploiter", crews=1)


def test_a_new_player_starts_level_with_the_others(store: Store) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER]))
    store("change_status", StatusChange(trial=league.trial, status="running"))
    for name in ("main", "exploiter") * 3:
        league.learn(name, crews=1)
    store("add_player", AddPlayer(trial=league.trial, key="new", name="late", role=Role.MAIN_EXPLOITER))
    league.learn("main", crews=1)
    with pytest.raises(ApplicationError, match="after the next one of"):
        league.learn("main", crews=1)
    league.learn("late", crews=1)
    league.learn("exploiter", crews=1)
    league.learn("main", crews=1)
