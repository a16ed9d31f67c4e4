"""A worker that dies within a transaction leaves nothing behind, and the next delivery does it all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from api.store.evaluations import target as evaluations
from api.store.gates import results as gate_results
from api.store.generations import judge as judging
from api.store.generations import record as generations
from api.store.verify import audit
from orchestrator.contracts.play import EvaluationKey, EvaluationReport, GateBatch, GateBrief, GateRequest
from tests.integration.league_store.driver import STEPS, Store, league_file
from tests.integration.league_store.games import played

Interrupt = Callable[[Any], None]


@pytest.fixture
def interrupt(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> Interrupt:
    """Lose the database at the end of the next transaction of a module, when everything but the events is written."""

    def lose_at_the_end_of(module: Any) -> None:
        append = module.append_events
        pending = [True]

        def append_events(session: Any, events: Any) -> None:
            append(session, events)
            if pending.pop() if pending else False:
                victim = session.execute(text("SELECT pg_backend_pid()")).scalar_one()
                with fresh_store.engine.begin() as other:
                    other.execute(text("SELECT pg_terminate_backend(:victim)"), {"victim": victim})
                session.execute(text("SELECT 1"))

        monkeypatch.setattr(module, "append_events", append_events)

    return lose_at_the_end_of


def test_every_step_of_a_league_survives_a_lost_database(fresh_store: Store, interrupt: Interrupt) -> None:
    store = fresh_store
    every = {"min_steps": STEPS, "max_steps": STEPS, "win_rate": 1.0}
    target = {"budget": {"until": {"opponent": "first-legal"}}, "evaluation": {"games": 8}}
    league = store.found(league_file("fictitious", snapshot=every) | target)
    league.live("main")

    def twice(module: Any, activity: str, message: Any) -> Any:
        """Deliver, lose the database, deliver again."""
        interrupt(module)
        with pytest.raises(OperationalError):
            store(activity, message)
        return store(activity, message)

    recorded = twice(generations, "record_generation", league.report(league.plan("main")))
    assert (recorded.player_steps, league.player("main").generation) == (2 * STEPS, 2)
    judgement = twice(judging, "judge_generation", league.key("main", 2))
    assert league.names() == ["main", "random", "first-legal", "main-1", "main-2"]
    brief: GateBrief = store("gate_brief", GateRequest(gate=judgement.gate))
    assert brief.request is not None
    games = played(brief.request, [1.0])
    end = twice(gate_results, "record_gate_batch", GateBatch(gate=brief.gate, batch=1, outcome=games))
    assert (end.status, end.next_batch) == ("running", 2)
    key = EvaluationKey(trial=league.trial, player=league.player("main").id, generation=2)
    request = store("plan_evaluation", key)
    report = EvaluationReport(
        trial=key.trial, player=key.player, generation=2, request=request, outcome=played(request, [0.75])
    )
    assert twice(evaluations, "record_evaluation", report).games == 8
    assert audit(store.engine, store.artifacts).findings == ()
