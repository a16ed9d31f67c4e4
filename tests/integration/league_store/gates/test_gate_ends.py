"""Gates of a trial that ends at once: none of them promotes anybody afterwards, and nobody else loses a turn."""

from __future__ import annotations

from typing import Any

import pytest

from api.activities import gates as gate_activities
from api.store.aliases.moves import AliasKey, Promotion, move_alias
from api.store.core.ids import new_id
from api.store.gates.lifecycle import CHAMPION
from orchestrator.contracts.play import GatesEnd, GatesEnded, OpenedGate
from tests.integration.league_store.driver import Store
from tests.integration.league_store.games import played
from tests.integration.league_store.gates.test_gates import Batch, brief_of, champion, found, gates, opened, play


def test_a_gate_that_waits_behind_another_trials_becomes_invalid(store: Store) -> None:
    project = new_id()
    first, second = found(store, project=project), found(store, project=project)
    running = brief_of(store, opened(first).gate)
    assert second.live("main").gate is None
    end = GatesEnd(trial=second.trial, reason="its trial ends: enough")
    answers = store.at_once("end_gates", end, end)
    assert answers == [GatesEnded(gates=[])] * 2 == [store("end_gates", end)] * 2
    *_, waiting = gates(second)
    assert (waiting.trial_id, waiting.status, waiting.status_reason) == (second.trial, "invalid", end.reason)
    after = play(store, running, [0.0, 0.25])
    assert (after.status, after.next_gate) == ("failed", None), "the other trial's gate was not touched"


def test_a_running_gate_becomes_invalid_and_makes_room_for_another_trials(store: Store) -> None:
    project = new_id()
    first, second = found(store, project=project), found(store, project=project)
    running = brief_of(store, opened(first).gate)
    before = champion(first)
    second.live("main")
    *_, waiting = gates(second)
    end = GatesEnd(trial=first.trial, reason="enough")
    expected = GatesEnded(gates=[OpenedGate(gate=waiting.id, trial=second.trial)])
    assert store("end_gates", end) == store("end_gates", end) == expected
    assert running.request is not None
    late = store("record_gate_batch", Batch(gate=running.gate, batch=1, outcome=played(running.request)))
    assert (late.status, late.request, late.next_gate) == ("invalid", None, waiting.id)
    assert champion(first) == before


def test_no_candidate_of_the_same_trial_takes_the_place(store: Store) -> None:
    league = found(store)
    opened(league)
    league.live("main")
    assert store("end_gates", GatesEnd(trial=league.trial, reason="enough")) == GatesEnded(gates=[])
    assert [gate.status for gate in gates(league)] == ["passed", "invalid", "invalid"]


def test_a_batch_that_comes_first_opens_no_gate_of_the_ended_trial(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its champion was changed by hand: the gate that its candidate gets instead ends as well."""
    league = found(store)
    running = brief_of(store, opened(league).gate)
    assert running.request is not None
    batch = Batch(gate=running.gate, batch=1, outcome=played(running.request))
    key = AliasKey(project_id=league.row.project_id, game=league.row.game, name=CHAMPION)
    with store.sessions.begin() as session:
        move_alias(session, key, league.versions("main")[0].id, Promotion(reason="by hand", actor="test"))
    stop = gate_activities.stop_gate

    def late(session: Any, gate: str, reason: str) -> gate_activities.Standing:
        if gate == running.gate:
            store("record_gate_batch", batch)
        return stop(session, gate, reason)

    monkeypatch.setattr(gate_activities, "stop_gate", late)
    assert store("end_gates", GatesEnd(trial=league.trial, reason="enough")) == GatesEnded(gates=[])
    assert [gate.status for gate in gates(league)] == ["passed", "invalid", "invalid"]
    assert champion(league) == league.versions("main")[0].id
