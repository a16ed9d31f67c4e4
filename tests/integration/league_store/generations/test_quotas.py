"""Priorities and quotas of trials and projects, decided when a generation is planned."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import update
from temporalio.exceptions import ApplicationError

from api.schemas.trials import TrialChange
from api.store.core.ids import new_id
from api.store.tables import Project
from api.store.trials.change import change_trial
from league.training_priority import Urgency
from orchestrator.contracts.trials import StatusChange
from tests.integration.league_store.driver import EXPLOITER, MAIN, STEPS, League, Store, league_file
from tests.integration.league_store.sweeping import Swept

PLAYERS = [MAIN, EXPLOITER, {"name": "second", "role": "main_exploiter"}]


def running(store: Store, project: str | None = None, **options: object) -> League:
    league = store.found({**league_file(players=PLAYERS), **options}, project=project)
    store("change_status", StatusChange(trial=league.trial, status="running"))
    return league


def end(store: Store, *leagues: League) -> None:
    for league in leagues:
        store("change_status", StatusChange(trial=league.trial, status="stopped", reason="the test is over"))


def set_project(store: Store, league: League, **values: float | None) -> None:
    with store.sessions.begin() as session:
        session.execute(update(Project).where(Project.id == league.row.project_id).values(**values))


def test_a_trial_has_no_more_generations_under_way_than_its_quota(store: Store) -> None:
    league = running(store, quota=2)
    plan = league.plan("main")
    league.plan("exploiter")
    for _ in range(2):
        with pytest.raises(ApplicationError, match="the trial's quota of 2 generations is used up") as held:
            league.plan("second")
        assert held.value.next_retry_delay is not None
    assert league.plan("main") == plan, "a plan that was made is handed out again"
    store("record_generation", league.report(plan))
    assert league.plan("second").generation == 1
    end(store, league)


def test_a_quota_can_change_while_the_trial_runs(store: Store) -> None:
    league = running(store, quota=1)
    league.plan("main")
    with pytest.raises(ApplicationError, match="quota"):
        league.plan("exploiter")
    with store.sessions.begin() as session:
        _, event = change_trial(session, league.trial, TrialChange(quota=0))
    assert event is not None and event.quota == 0
    assert league.plan("exploiter").generation == 1
    assert league.events("trial.changed")[-1]["quota"] == 0
    end(store, league)


def test_a_player_does_not_wait_for_its_own_plan_after_a_rollback(store: Store) -> None:
    league = running(store, quota=1)
    league.plan("main")
    assert league.plan("main", attempt=2).generation == 1
    set_project(store, league, quota=1)
    assert league.plan("main", attempt=3).generation == 1
    set_project(store, league, quota=None)
    end(store, league)


def test_players_of_a_quota_stay_level(store: Store) -> None:
    league = running(store, quota=1)
    league.learn("main")
    with pytest.raises(ApplicationError, match="planned after the next one of"):
        league.plan("main")
    league.learn("exploiter")
    league.learn("second")
    league.learn("main")
    end(store, league)


def test_trials_of_a_project_take_turns_at_its_quota(store: Store) -> None:
    project = new_id()
    crowd, newcomer = running(store, project), running(store, project)
    set_project(store, crowd, quota=1)
    plan = crowd.plan("main")
    with pytest.raises(ApplicationError, match=f"the quota of 1 of project {project} is used up"):
        newcomer.plan("main")
    store("record_generation", crowd.report(plan))
    with pytest.raises(ApplicationError, match=f"the next place of project {project} is for trial {newcomer.row.name}"):
        crowd.plan("exploiter")
    newcomer.learn("main")
    crowd.learn("exploiter")
    end(store, crowd, newcomer)


def test_no_place_is_kept_for_a_trial_that_its_sweep_or_its_budget_holds(store: Store) -> None:
    project = new_id()
    sweep = Swept.found(store, project=project)
    sweep.advance()
    at_rung = sweep.trial(0)
    for number in (1, 2):
        sweep.end_trial(number, "stopping")
        sweep.end_trial(number, "stopped")
    sweep.train(0, 10.0)
    with pytest.raises(ApplicationError, match="until its sweep has decided"):
        at_rung.plan("main")
    spent = running(store, project, budget={"steps": STEPS})
    spent.live("main", 1)
    league = running(store, project)
    set_project(store, league, quota=1)
    assert league.plan("main").generation == 1, "both others have waited longer, but may not begin"
    end(store, league, spent, at_rung)


def test_two_trials_never_take_the_last_place_at_once(store: Store) -> None:
    project = new_id()
    leagues = [running(store, project) for _ in range(4)]
    set_project(store, leagues[0], quota=1)

    def attempt(league: League) -> bool:
        try:
            league.plan("main")
        except ApplicationError:
            return False
        return True

    with ThreadPoolExecutor(len(leagues)) as threads:
        began = list(threads.map(attempt, leagues))
    if not any(began):  # each saw that another has waited longer
        began = [attempt(league) for league in leagues]
    assert began.count(True) == 1
    end(store, *leagues)


def test_the_weight_of_a_plan_follows_priorities_and_costs(fresh_store: Store) -> None:
    store = fresh_store
    first, second = running(store, new_id(), priority=3.0), running(store, new_id())
    assert first.plan("main").weight == pytest.approx(1), "alone in its project, it has the project's whole share"
    set_project(store, second, priority=4.0)
    weights = first.plan("main").weight, second.plan("main").weight
    assert weights[1] / weights[0] == pytest.approx(4)
    report = first.report(first.plan("main"))
    outcome = replace(report.outcome, started_at=1000.0, finished_at=1030.0)
    store("record_generation", replace(report, outcome=outcome))
    assert first.row.generation_cost == pytest.approx(30)
    second.learn("main", metrics={"steps_per_second": STEPS / 5})
    assert second.row.generation_cost == pytest.approx(5), "the rest of the time it waited for its crew"
    end(store, first, second)


def test_no_player_goes_before_those_of_other_trials_because_it_is_behind(fresh_store: Store) -> None:
    store = fresh_store
    league = running(store)
    league.live("main", 3)
    assert league.plan("exploiter").urgency == Urgency.FAR_BEHIND
    other = running(store)
    assert league.plan("exploiter").urgency == Urgency.IN_STEP
    end(store, other)
    assert league.plan("exploiter").urgency == Urgency.FAR_BEHIND
