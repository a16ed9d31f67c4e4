"""Probes in the store: responders' trials, their games, the result, stops, failures, and the audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from api.schemas.enums import ProbeStatus
from api.schemas.events import ProbeFinished
from api.store.core.errors import Conflict
from api.store.probes.advance import stop_probe
from api.store.probes.create import probe_mixture, probe_version
from api.store.probes.reads import read_probe
from api.store.tables import Probe, Trial
from orchestrator.contracts.probes import ProbePlan, ProbeStep
from orchestrator.contracts.trials import EnterPlayers, StatusChange, TrialBrief, TrialRequest
from orchestrator.spec.probe import NewProbeSpec
from tests.integration.league_store.driver import MAIN, STEPS, League, Store, league_file
from tests.integration.league_store.test_meta_game import found as found_pool
from tests.integration.league_store.test_meta_game import play, respond
from tests.integration.league_store.test_populations import findings

BUDGET = NewProbeSpec(responders=2, steps=STEPS, games=20)


@dataclass(frozen=True)
class Probed:
    """A probe driven through the store's activity."""

    store: Store
    id: str

    @property
    def row(self) -> Probe:
        return self.store.rows(Probe, Probe.id == self.id)[0]

    def advance(self, **step: Any) -> ProbePlan:
        plan: ProbePlan = self.store("advance_probe", ProbeStep(probe=self.id, **step))
        return plan

    def begin(self, plan: ProbePlan) -> list[League]:
        leagues = []
        for new in plan.trials:
            brief: TrialBrief = self.store("begin_trial", TrialRequest(trial=new.trial))
            initial = brief.initial or self.store.weights("initial")
            self.store("enter_players", EnterPlayers(trial=new.trial, initial=initial))
            self.store("change_status", StatusChange(trial=new.trial, status="running"))
            leagues.append(League(self.store, new.trial))
        return leagues

    def train(self) -> list[League]:
        """The trials of its responders, trained to the end of their budget."""
        leagues = self.begin(self.advance())
        for league in leagues:
            league.live("responder", weights=league.trial)
            self.end(league)
        return leagues

    def end(self, league: League, status: str = "completed") -> None:
        self.store("change_status", StatusChange(trial=league.trial, status=status, reason="its end"))


@pytest.fixture
def league(store: Store) -> League:
    found = store.found(league_file("self_play", [MAIN], champion_gate=None))
    found.live("main")
    return found


def of_version(league: League) -> Probed:
    with league.store.sessions.begin() as session:
        return Probed(league.store, probe_version(session, league.versions("main")[-1].id, BUDGET).id)


def test_responders_train_against_the_frozen_version_and_nobody_else(league: League) -> None:
    probe = of_version(league)
    plan = probe.advance()
    assert len(plan.trials) == 2 and not plan.over
    (first, second) = probe.begin(plan)
    assert first.names() == ["responder", "target"]
    opponents = first.plan("responder").opponents
    target = league.versions("main")[-1]
    assert [(each.player_name, each.probability) for each in opponents] == [("target", 1.0)]
    assert opponents[0].checkpoint is not None and opponents[0].checkpoint.sha256 == target.sha256
    assert first.row.seed != second.row.seed
    assert first.row.spec["budget"]["steps"] == STEPS
    again = probe.advance()
    assert again.trials == [] and league.store.count(Trial, Trial.name.startswith(f"probe-{probe.id[-12:]}")) == 2


def test_the_best_responder_in_fresh_games_bounds_the_version(league: League) -> None:
    probe = of_version(league)
    probe.train()
    tournament = probe.advance().tournament
    assert tournament is not None and probe.advance().tournament == tournament, "its workflow is not started yet"
    assert play(league, tournament, scores=(1.0, 0.5)) == 2
    assert probe.advance().over
    row = probe.row
    assert row.status is ProbeStatus.COMPLETED and row.win_rate == pytest.approx(0.75)
    assert row.low is not None and row.high is not None and 0.4 < row.low < 0.75 < row.high
    with league.store.sessions() as session:
        answer = read_probe(session, probe.id)
    assert [each.games for each in answer.responders] == [20, 20]
    assert answer.target == "main v1" and answer.version_steps == STEPS
    assert len(league.events(ProbeFinished.KIND)) == 1 and probe.advance().over
    assert findings(league.store) == []
    damage = f"UPDATE probes SET win_rate = 0.9 WHERE id = '{probe.id}'"
    assert any("best responder" in each.detail for each in findings(league.store, damage))


def test_a_mixture_is_met_in_its_proportions(store: Store) -> None:
    pool = found_pool(store)
    for _ in range(3):
        respond(pool)
    with store.sessions.begin() as session:
        probe = Probed(store, probe_mixture(session, pool.trial, BUDGET).id)
    parts = probe.row.target["parts"]
    assert sum(part["weight"] for part in parts) == pytest.approx(1.0)
    (first, _) = probe.begin(probe.advance())
    met = {each.player_name: each.probability for each in first.plan("responder").opponents}
    assert sorted(met.values()) == pytest.approx(sorted(part["weight"] for part in parts))
    lonely = store.found(league_file("self_play", [MAIN]))
    with store.sessions.begin() as session, pytest.raises(Conflict, match="needs two"):
        probe_mixture(session, lonely.trial, BUDGET)


def test_a_probe_that_is_stopped_ends_its_trials_first(league: League) -> None:
    probe = of_version(league)
    leagues = probe.begin(probe.advance())
    with league.store.sessions.begin() as session:
        stop_probe(session, probe.id, "enough")
    plan = probe.advance()
    assert {order.trial for order in plan.orders} == {each.trial for each in leagues} and not plan.over
    for each in leagues:
        probe.end(each, "stopping")
        probe.end(each, "stopped")
    assert probe.advance().over
    assert (probe.row.status, probe.row.status_reason) == (ProbeStatus.STOPPED, "enough")
    assert findings(league.store) == []


def test_a_responder_that_fails_fails_the_probe_and_stops_the_others(league: League) -> None:
    probe = of_version(league)
    (first, second) = probe.begin(probe.advance())
    probe.end(first, "failed")
    plan = probe.advance()
    assert plan.over and [order.trial for order in plan.orders] == [second.trial]
    assert "its end" in (probe.row.status_reason or "")


def test_a_probe_needs_an_opponent(store: Store) -> None:
    alone = league_file("self_play", [MAIN], champion_gate=None)
    alone["game"] = {"id": "gymnasium", "env": "CartPole-v1"}
    league = store.found(alone)
    with store.sessions.begin() as session, pytest.raises(Conflict, match="two teams"):
        probe_version(session, league.versions("main")[-1].id, BUDGET)
