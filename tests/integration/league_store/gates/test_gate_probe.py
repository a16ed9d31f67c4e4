"""A gate with a probe: who beat the champion must not be too exploitable, by what fresh responders win against it."""

from __future__ import annotations

from typing import Any

import pytest

from api.schemas.enums import ProbeStatus
from api.store.gates.lifecycle import CHAMPION
from api.store.tables import Gate, Probe
from api.store.verify.games import wrong_games
from league.types import DecisionKind
from orchestrator.contracts.play import GateBrief, GateRequest, GateStop
from tests.integration.league_store.driver import STEPS, League, Store
from tests.integration.league_store.gates.test_gates import brief_of, champion, found, gates, opened, play
from tests.integration.league_store.test_meta_game import play as play_games
from tests.integration.league_store.test_probes import Probed

GOOD = (1.0,)
BUDGET = {"responders": 1, "steps": STEPS, "games": 100}


def beaten(store: Store, **rule: Any) -> tuple[League, GateBrief]:
    """A league whose second candidate beat the champion and is now probed."""
    league = found(store, elo1=300, probe={**BUDGET, **rule})
    return league, play(store, brief_of(store, opened(league).gate), GOOD)


def ask(store: Store, brief: GateBrief) -> GateBrief:
    again: GateBrief = store("judge_gate_probe", GateRequest(gate=brief.gate))
    return again


def finish(league: League, probe_id: str, score: float) -> None:
    """Train the responders of a probe and play its games with this score of the responder."""
    probe = Probed(league.store, probe_id)
    probe.train()
    tournament = probe.advance().tournament
    assert tournament is not None
    play_games(league, tournament, scores=(score,))
    assert probe.advance().over


def probe_of(league: League, side: str = "candidate") -> str:
    return str(gates(league)[-1].settings["probe"][side])


def test_a_candidate_that_beat_the_champion_waits_for_its_probe(store: Store) -> None:
    league, brief = beaten(store, limit=0.75)
    before = champion(league)
    assert (brief.status, brief.request, brief.probing) == ("running", None, True)
    (probe,) = store.rows(Probe, Probe.trial_id == league.trial)
    (candidate,) = league.versions("main-2")
    assert probe.version_id == candidate.id and probe.status is ProbeStatus.PENDING and probe.spec["steps"] == STEPS
    assert brief_of(store, brief.gate) == ask(store, brief) == brief, "nothing is decided while it runs"
    assert champion(league) == before and store.count(Probe, Probe.trial_id == league.trial) == 1


@pytest.mark.parametrize(("score", "status"), [(0.5, "passed"), (1.0, "failed")])
def test_the_limit_refuses_what_the_games_show(store: Store, score: float, status: str) -> None:
    league, brief = beaten(store, limit=0.75)
    finish(league, probe_of(league), score)
    end = ask(store, brief)
    (candidate,) = league.versions("main-2")
    assert (end.status, end.probing, ask(store, brief)) == (status, False, end)
    assert (champion(league) == candidate.id) is (status == "passed")
    decision = league.decisions(DecisionKind.PROMOTION)[-1]
    assert decision.evidence["probe"]["candidate"]["win_rate"] == score
    assert ("too exploitable" in decision.reason) is (status == "failed")
    with store.sessions() as session:
        assert list(wrong_games(session)) == []
        damaged = session.get_one(Gate, brief.gate)
        damaged.settings = {
            **damaged.settings,
            "probe": {**damaged.settings["probe"], "limit": 0.999 if score == 1 else 0.1},
        }
        assert bool(list(wrong_games(session))) is True
        session.rollback()


def test_the_margin_compares_with_a_probe_of_the_champion(store: Store) -> None:
    league, brief = beaten(store, margin=0.0)
    finish(league, probe_of(league), 1.0)
    assert ask(store, brief).probing, "the champion's probe runs"
    finish(league, probe_of(league, "champion"), 0.5)
    assert ask(store, brief).status == "failed"
    assert "above the champion's 0.500" in (gates(league)[-1].status_reason or "")
    play(store, brief_of(store, league.live("main").gate), GOOD)
    kept = gates(league)[-1].settings["probe"]
    assert kept["champion"] == gates(league)[-2].settings["probe"]["champion"], "a probe of this budget is used again"
    assert kept["opened"] == [kept["candidate"]]


def test_without_numbers_the_result_is_only_recorded(store: Store) -> None:
    league, brief = beaten(store)
    finish(league, probe_of(league), 1.0)
    assert ask(store, brief).status == "passed"
    assert "in its probe a responder wins 1.000" in (gates(league)[-1].status_reason or "")


@pytest.mark.parametrize(("rule", "status"), [({"limit": 0.75}, "invalid"), ({}, "passed")])
def test_a_probe_that_fails_decides_nothing(store: Store, rule: dict[str, Any], status: str) -> None:
    league, brief = beaten(store, **rule)
    Probed(store, probe_of(league)).advance(failure="no more disk")
    assert ask(store, brief).status == status
    assert "no more disk" in (gates(league)[-1].status_reason or "")


def test_a_stopped_gate_stops_the_probes_that_it_opened(store: Store) -> None:
    league, brief = beaten(store, limit=0.75)
    assert store("stop_gate", GateStop(gate=brief.gate, reason="enough")).status == "invalid"
    (probe,) = store.rows(Probe, Probe.trial_id == league.trial)
    assert probe.status is ProbeStatus.STOPPING and "its gate ended: enough" in (probe.status_reason or "")
    assert gates(league)[-1].alias == CHAMPION
