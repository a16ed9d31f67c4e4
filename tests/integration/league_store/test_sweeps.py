"""Sweeps in the store: each value and decision once, orders from rows, metrics, promotion, and the audit."""

from __future__ import annotations

from typing import Any

import pytest

from api.schemas.events import SweepJudged
from api.store.aliases.moves import AliasKey, Promotion, move_alias
from api.store.core.errors import Conflict
from api.store.sweeps.create import create_sweep
from api.store.sweeps.metrics import measure
from api.store.tables import Alias, AliasEvent, Event, Project, Rating, RatingFit, Sweep, SweepValue, Trial
from api.store.verify import FindingKind
from orchestrator.contracts.sweeps import SweepStep
from orchestrator.contracts.trials import StatusChange
from orchestrator.contracts.workflows import PAUSED_BY_OPERATOR, Mode
from orchestrator.spec.reading.sweep_loading import check_sweep
from orchestrator.spec.sweeps.sweep import MetricSpec
from tests.integration.league_store.driver import MAIN, STEPS, Store, league_file
from tests.integration.league_store.sweeping import ASHA, RATE, TRIAL, Swept
from tests.integration.league_store.test_populations import findings, rate

BY_GRID: dict[str, Any] = {
    "method": "grid",
    "rungs": {},
    "trials": None,
    "budget": {"steps": STEPS},
    "space": {"algorithm.epochs": {"int": [1, 2]}, "algorithm.entropy": {"choice": [0.0, 0.1]}},
}


def judged(store: Store) -> Swept:
    """By ASHA at the lowest rung: trials 0 and 1 go on, trial 2 is stopped."""
    sweep = Swept.found(store)
    sweep.advance()
    for number, value in enumerate((10.0, 20.0, 5.0)):
        sweep.train(number, value)
        sweep.advance()
    return sweep


def test_each_trial_is_judged_from_the_values_that_arrived_before(store: Store) -> None:
    sweep = judged(store)
    assert sweep.values() == {(0, 0): 10.0, (1, 0): 20.0, (2, 0): 5.0}
    assert sweep.decisions() == {(0, 0): "go_on", (1, 0): "go_on", (2, 0): "stop"}
    (order,) = sweep.advance().orders
    assert (order.trial, order.mode) == (sweep.trial(2).trial, Mode.NOW)
    assert "5 is number 3 of 3 at rung 0" in order.reason
    assert findings(store) == []


def test_a_second_delivery_changes_nothing(store: Store) -> None:
    sweep = judged(store)
    sweep.train(1, 30.0)
    plans = store.at_once("advance_sweep", *[SweepStep(sweep=sweep.id)] * 6)
    assert all(plan == plans[0] for plan in plans)
    assert len(sweep.entries()) == 3
    assert sweep.values() == {(0, 0): 10.0, (1, 0): 20.0, (2, 0): 5.0, (1, 1): 30.0}
    assert len(sweep.decisions()) == 4
    told = store.rows(Event, Event.type == SweepJudged.KIND, Event.payload["sweep_id"].astext == sweep.id)
    assert len(told) == 4
    assert findings(store) == []


def test_a_sweep_ends_once_with_its_best_trial(store: Store) -> None:
    sweep = judged(store)
    for generations, value in ((1, 30.0), (2, 40.0)):
        sweep.train(1, value, generations)
        sweep.advance()
    assert sweep.decisions()[1, 2] == "complete"
    for number, status in enumerate(("stopped", "completed", "stopped")):
        assert not sweep.advance().over
        if status == "stopped":
            sweep.end_trial(number, "stopping")
        sweep.end_trial(number, status)
    assert sweep.advance().over
    assert [sweep.end(), sweep.end()] == ["completed", "completed"]
    assert sweep.row.best_trial_id == sweep.trial(1).trial
    assert findings(store) == []


def test_the_audit_finds_values_and_decisions_that_differ_from_a_recomputation(store: Store) -> None:
    sweep = judged(store)
    at = f"sweep_id = '{sweep.id}' AND number = 2"
    for damage, words in (
        (f"UPDATE sweep_decisions SET verdict = 'go_on' WHERE {at}", "stop"),
        (f"UPDATE sweep_decisions SET reason = 'as you like' WHERE {at}", "as you like"),
        (f"UPDATE sweep_decisions SET evidence = '{{}}' WHERE {at}", "the evidence"),
        (f"UPDATE sweep_values SET value = 50 WHERE {at}", "its value at rung 0 is 5.0, not 50.0"),
        (f"UPDATE sweep_values SET steps = 1 WHERE {at}", "it had 1"),
        (f"UPDATE sweep_trials SET point = '{{\"algorithm.learning_rate\": 0.5}}' WHERE {at}", "does not have"),
    ):
        found = [each for each in findings(store, damage) if words in each.detail]
        assert [(each.wrong, "trial 2" in each.subject) for each in found] == [(FindingKind.DISAGREEING, True)], damage


def test_a_grid_lays_out_every_point(store: Store) -> None:
    sweep = Swept.found(store, parallel=4, **BY_GRID)
    assert len(sweep.advance().start) == 4
    points = [tuple(entry.point.values()) for entry in sweep.entries()]
    assert points == [(1, 0.0), (1, 0.1), (2, 0.0), (2, 0.1)]
    assert sweep.trial(3).row.spec["algorithm"]["epochs"] == 2


def test_without_parallel_the_free_crews_decide(fresh_store: Store) -> None:
    sweep = Swept.found(fresh_store, parallel=None, **BY_GRID)
    assert len(sweep.advance().start) == 1, "the crews are not known yet"
    sweep.advance(crews=3)
    assert len(sweep.entries()) == 3
    other = Swept.found(fresh_store, parallel=None, **BY_GRID)
    other.advance(crews=3)
    assert len(other.entries()) == 1, "the first sweep uses all crews; one trial always trains"
    other.advance(crews=5)
    assert len(other.entries()) == 2


def test_a_trial_that_a_person_paused_leaves_its_place_to_the_others(store: Store) -> None:
    sweep = Swept.found(store, parallel=1, trials=2)
    sweep.advance()
    for status in ("pausing", "paused"):
        change = StatusChange(trial=sweep.trial(0).trial, status=status, reason=PAUSED_BY_OPERATOR)
        store("change_status", change)
    plan = sweep.advance()
    assert [new.trial for new in plan.start] == [sweep.trial(1).trial]
    assert plan.orders == [], "it is not resumed"
    store("change_status", StatusChange(trial=sweep.trial(0).trial, status="running"))
    assert sweep.advance().orders == [], "a person resumed it: both go on"


def test_the_space_may_give_what_the_base_trial_lacks(store: Store) -> None:
    base = {name: value for name, value in TRIAL.items() if name != "game"}
    space = {"game": {"choice": [{"id": "tic_tac_toe"}, {"id": "connect_four"}]}}
    sweep = Swept.found(store, trial=base, space=space, parallel=None, trials=2, method="grid", rungs={})
    assert len(sweep.advance(crews=1).start) == 1
    assert sweep.trial(0).row.spec["game"]["id"] == "tic_tac_toe"


def test_a_sweep_is_refused_whose_trials_have_names_that_are_taken(store: Store) -> None:
    first = Swept.found(store, parallel=1, trials=2)
    first.advance()
    with store.sessions.begin() as session:
        project = session.get_one(Project, first.row.project_id).name
        spec = check_sweep({"trial": TRIAL, "space": RATE, **ASHA})
        session.get_one(Sweep, first.id).name = "renamed"
        session.flush()
        with pytest.raises(Conflict, match="'rates-000'"):
            create_sweep(session, project=project, name="rates", spec=spec)
        session.rollback()


@pytest.mark.parametrize("exists", [True, False], ids=["alias exists", "alias is new"])
def test_the_best_trial_is_promoted(store: Store, exists: bool) -> None:
    sweep = Swept.found(store, promote="best", parallel=4, **BY_GRID)
    sweep.advance()
    key = AliasKey(project_id=sweep.row.project_id, game=sweep.trial(0).row.game, name="best")
    if exists:
        with store.sessions.begin() as session:
            before = sweep.trial(0).versions("main")[0].id
            move_alias(session, key, before, Promotion(reason="the first one", actor="test"))
    for number, value in enumerate((1.0, 4.0, 3.0, 2.0)):
        sweep.train(number, value)
        sweep.advance()
        sweep.end_trial(number)
    assert sweep.advance().over
    assert [sweep.end(), sweep.end()] == ["completed", "completed"]
    (alias,) = store.rows(Alias, Alias.project_id == key.project_id)
    newest = sweep.trial(1).versions("main")[-1].id
    assert (alias.name, alias.version_id) == ("best", newest)
    moves = store.rows(AliasEvent, AliasEvent.to_version_id == newest)
    assert len(moves) == 1 and moves[0].evidence["sweep_id"] == sweep.id
    assert findings(store) == []


def test_win_rates_count_the_games_since_the_rung_before(store: Store) -> None:
    trial = league_file("fictitious", [MAIN, {"name": "random", "role": "bot", "bot": "random"}], champion_gate=None)
    trial["league"]["matchmaking"] = {"include_bots": True}
    sweep = Swept.found(store, trial=trial, metric={"name": "win_rate", "opponent": "random"}, trials=1)
    sweep.advance()
    for wins, losses in ((9, 0), (0, 9)):
        sweep.trial(0).live("main", wins=wins, losses=losses)
        sweep.advance()
    assert sweep.values() == {(0, 0): pytest.approx(0.95), (0, 1): pytest.approx(0.05)}
    assert findings(store) == []


def test_ratings_are_those_of_the_newest_rated_version(store: Store) -> None:
    trial = league_file("self_play", [MAIN], champion_gate=None) | {
        "budget": {"until": {"opponent": "first-legal", "win_rate": 0.99}},
        "evaluation": {"games": 20},
    }
    league = store.found(trial)
    league.learn("main")
    metric = MetricSpec(name="rating")

    def measured() -> float | None:
        with store.sessions() as session:
            row = session.get_one(Trial, league.trial)
            return measure(session, row, metric, after=0, commit=row.last_commit).value

    assert measured() is None, "no games yet"
    rate(league, "main", [1.0, 0.75, 0.5])
    first = measured()
    league.judge("main")
    league.learn("main")
    assert measured() == first, "the newest version is not rated yet"
    rate(league, "main", [0.0, 0.25])
    second = measured()
    assert first is not None and second is not None and second < first


def test_a_trial_without_a_value_counts_as_the_worst(store: Store) -> None:
    sweep = Swept.found(store, trials=2)
    sweep.advance()
    sweep.trial(0).live("main")
    sweep.advance()
    sweep.train(1, -100.0)
    sweep.advance()
    assert sweep.values() == {(0, 0): None, (1, 0): -100.0}
    assert sweep.decisions()[1, 0] == "go_on"
    (value,) = store.rows(SweepValue, SweepValue.sweep_id == sweep.id, SweepValue.number == 0)
    assert value.source["metric"] == "return_mean"
    assert findings(store) == []


def test_a_population_is_measured_by_its_first_member(store: Store) -> None:
    explore = {"learning_rate": {"initial": [1e-5, 1e-2], "perturb": [0.8, 1.25]}}
    population = {"size": 2, "every_generations": 4, "exploit": {"by": "return"}, "explore": explore}
    players = [{"name": "main", "population": population}]
    trial = league_file("self_play", players, champion_gate=None)
    trial["game"] = {"id": "gymnasium", "env": "CartPole-v1"}
    space = {"algorithm.epochs": {"int": [1, 2]}}
    sweep = Swept.found(store, trial=trial, space=space, metric={"name": "return", "player": "main"}, trials=1)
    sweep.advance()
    sweep.trial(0).live("main.1", metrics={"return_mean": 3.0})
    sweep.advance()
    assert sweep.values() == {(0, 0): 3.0}
    assert findings(store) == []


def add_rating(sweep: Swept, value: float) -> None:
    """A fit that rates the newest version of trial 0; no games are behind it."""
    trial, version = sweep.trial(0).row, sweep.trial(0).versions("main")[-1]
    with sweep.store.sessions.begin() as session:
        fit = RatingFit(
            project_id=trial.project_id, game=trial.game, method="bradley_terry", games=4, last_match_id=int(value)
        )
        session.add(fit)
        session.flush()
        session.add(Rating(fit_id=fit.id, version_id=version.id, value=value, deviation=10.0, games=4, rank=1))


def test_a_value_by_rating_is_that_of_its_fit(fresh_store: Store) -> None:
    sweep = Swept.found(fresh_store, metric="rating", trials=1)
    sweep.advance()
    sweep.trial(0).live("main")
    add_rating(sweep, 100.0)
    sweep.advance()
    assert sweep.values() == {(0, 0): 100.0}
    add_rating(sweep, 300.0)

    def of_sweeps(damage: str | None = None) -> list[str]:
        return [each.detail for each in findings(fresh_store, damage) if each.subject.startswith("sweep")]

    assert of_sweeps() == [], "a later fit changes nothing"
    damage = f"UPDATE sweep_values SET value = 101 WHERE sweep_id = '{sweep.id}'"
    assert "its value at rung 0 is 100.0, not 101.0" in of_sweeps(damage)
