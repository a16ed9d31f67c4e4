"""Gates: one at a time for each alias, the newest candidate waits, and only a pass moves the alias."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from api.store.aliases.moves import AliasKey, Promotion, alias_history, move_alias
from api.store.core.ids import new_id
from api.store.gates import results as gate_results
from api.store.gates.lifecycle import CHAMPION
from api.store.gates.results import stop_waiting_gate
from api.store.tables import Alias, AliasEvent, Gate, GateBatch, Match, ModelVersion, Payoff
from api.store.trials.troubles import troubles_of
from api.store.verify.games import wrong_games
from league.gates import Sprt, alpha_for_candidate
from league.types import DecisionKind
from orchestrator.contracts.generations import Judgement
from orchestrator.contracts.play import GateBatch as Batch
from orchestrator.contracts.play import GateBrief, GateRequest, GateStop, PlayOutcome
from orchestrator.contracts.trials import TrialEvent
from tests.integration.league_store.driver import STEPS, League, Store, league_file
from tests.integration.league_store.games import SUITED, played

EVERY = {"min_steps": STEPS, "max_steps": STEPS, "win_rate": 1.0}


def found(store: Store, *, project: str | None = None, max_pairs: int = 2000, **gate: Any) -> League:
    """A league whose main is frozen after every generation."""
    rule = {"max_pairs": max_pairs, **gate}
    return store.found(league_file("self_play", snapshot=EVERY, champion_gate=rule), project=project)


def champion(league: League) -> str:
    (alias,) = league.store.rows(Alias, Alias.project_id == league.row.project_id)
    return alias.version_id


def gates(league: League) -> list[Gate]:
    found = league.store.rows(Gate, Gate.project_id == league.row.project_id)
    return sorted(found, key=lambda gate: gate.id)


def brief_of(store: Store, gate: str | None) -> GateBrief:
    assert gate is not None
    brief: GateBrief = store("gate_brief", GateRequest(gate=gate))
    return brief


def play(store: Store, brief: GateBrief, scores: Sequence[float]) -> GateBrief:
    """Play the gate to its end."""
    while brief.request is not None:
        batch = Batch(gate=brief.gate, batch=brief.next_batch, outcome=played(brief.request, scores))
        brief = store("record_gate_batch", batch)
    return brief


def opened(league: League) -> Judgement:
    """A league with a champion and a running gate against it."""
    league.live("main")
    return league.live("main")


def test_the_first_champion_stands_unopposed(store: Store) -> None:
    league = found(store)
    judgement = league.live("main")
    assert judgement.gate is None
    (version,) = league.versions("main-1")
    assert champion(league) == version.id
    (gate,) = gates(league)
    assert (gate.status, gate.champion_version_id, gate.pairs) == ("passed", None, 0)
    (decision,) = league.decisions(DecisionKind.PROMOTION)
    assert (decision.verdict, decision.gate_id, decision.version_id) == ("promote", gate.id, version.id)
    assert decision.evidence["unopposed"]
    (event,) = store.rows(AliasEvent, AliasEvent.gate_id == gate.id)
    assert event.evidence["unopposed"]
    assert brief_of(store, gate.id).request is None


def test_a_second_snapshot_challenges_the_champion(store: Store) -> None:
    league = found(store)
    judgement = opened(league)
    brief = brief_of(store, judgement.gate)
    assert (brief.status, brief.next_batch, brief.trial) == ("running", 1, league.trial)
    assert brief.request is not None
    assert (brief.request.pairs, brief.request.sampled, brief.request.opening_plies) == (32, True, 2)
    candidate, holder = brief.request.contenders
    assert candidate.player == league.player("main-2").id
    assert holder.version == champion(league)
    assert brief == brief_of(store, judgement.gate)
    again = store("judge_generation", league.key("main", 2))
    assert again == judgement


def test_a_gate_says_what_openings_its_games_had(store: Store) -> None:
    file = league_file("self_play", snapshot=EVERY, champion_gate={"max_pairs": 2000})
    league = store.found(file | {"game": {"id": "openspiel", "game": "hex"}})
    brief = brief_of(store, opened(league).gate)
    assert brief.request is not None and brief.request.opening_plies is None, "left to whoever knows the game"
    assert gates(league)[-1].settings["opening_plies"] is None
    batch = Batch(gate=brief.gate, batch=1, outcome=played(brief.request, [1.0, 0.0]))
    following: GateBrief = store("record_gate_batch", batch)
    assert gates(league)[-1].settings["opening_plies"] == SUITED
    assert following.request is not None and following.request.opening_plies == SUITED


def test_a_gate_that_has_begun_is_not_handed_out_again(store: Store) -> None:
    league = found(store)
    judgement = opened(league)
    brief = brief_of(store, judgement.gate)
    assert brief.request is not None
    store("record_gate_batch", Batch(gate=brief.gate, batch=1, outcome=played(brief.request, [0.5])))
    assert store("judge_generation", league.key("main", 2)).gate is None


def test_a_pass_moves_the_alias_with_its_evidence(store: Store) -> None:
    league = found(store)
    judgement = opened(league)
    end = play(store, brief_of(store, judgement.gate), [1.0, 0.75])
    assert (end.status, end.request, end.next_gate) == ("passed", None, None)
    (version,) = league.versions("main-2")
    assert champion(league) == version.id
    gate = gates(league)[-1]
    assert gate.llr >= gate.upper_bound
    decision = league.decisions(DecisionKind.PROMOTION)[-1]
    assert decision.evidence["counts"] == gate.pentanomial
    assert decision.evidence["estimate"].startswith("raw")
    (event,) = store.rows(AliasEvent, AliasEvent.gate_id == gate.id)
    assert (event.to_version_id, event.move, event.evidence["llr"]) == (version.id, "promoted", gate.llr)
    assert store.count(Payoff, Payoff.trial_id == league.trial) == 0


def test_failed_attempts_of_a_gate_are_told_until_the_gate_goes_on(store: Store) -> None:
    league = found(store)
    gate = opened(league).gate
    failed = {"gate": gate, "failure": "crew_lost", "problem": "the crew died", "tries": 1}
    store("note_event", TrialEvent(trial=league.trial, key="gate:1", type="gate_retried", payload=failed))

    def troubles() -> list[str]:
        with store.sessions() as session:
            return troubles_of(session, league.trial)

    league.live("main")
    (trouble,) = troubles()
    assert "Gate for champion: attempt 1 failed" in trouble, "a generation of a player is no success of the gate"
    play(store, brief_of(store, gate), [1.0, 0.75])
    assert troubles() == []


def test_events_of_a_gate_name_versions_beside_their_ids(store: Store) -> None:
    league = found(store)
    judgement = opened(league)
    failed = {"gate": judgement.gate, "failure": "crew_lost", "problem": "the crew died", "tries": 1}
    store("note_event", TrialEvent(trial=league.trial, key="gate:1", type="gate_retried", payload=failed))
    play(store, brief_of(store, judgement.gate), [1.0, 0.75])
    (event,) = league.events("gate.opened")
    assert (event["candidate"], event["champion"]) == ("main-2", "main-1")
    (event,) = league.events("gate_retried")
    assert (event["gate_id"], event["alias"]) == (judgement.gate, "champion")
    first, second = league.events("alias.moved")
    assert (first["from_version"], first["to_version"]) == (None, "main-1")
    assert (second["from_version"], second["to_version"]) == ("main-1", "main-2")


def test_a_fail_and_an_undecided_end_leave_the_champion(store: Store) -> None:
    for scores, max_pairs, status in (([0.0, 0.25], 2000, "failed"), ([0.5, 0.75, 0.25], 40, "exhausted")):
        league = found(store, max_pairs=max_pairs)
        judgement = opened(league)
        before = champion(league)
        assert play(store, brief_of(store, judgement.gate), scores).status == status
        assert champion(league) == before
        assert league.decisions(DecisionKind.PROMOTION)[-1].verdict == "keep"
        assert gates(league)[-1].pairs <= max_pairs


def test_a_gate_is_judged_by_the_model_of_its_file(store: Store) -> None:
    ratios = {}
    for model in ("logistic", "normalized"):
        league = found(store, model=model)
        brief = brief_of(store, opened(league).gate)
        assert brief.request is not None
        store("record_gate_batch", Batch(gate=brief.gate, batch=1, outcome=played(brief.request, [0.5, 0.75])))
        gate = gates(league)[-1]
        assert (gate.model, gate.settings["model"]) == (model, model)
        assert gate.llr == Sprt(model=model).judge([0, 0, 16, 16, 0]).llr
        with store.sessions() as session:
            assert not [finding for finding in wrong_games(session) if gate.id in finding.subject]
        ratios[model] = gate.llr
    assert ratios["logistic"] != pytest.approx(ratios["normalized"], rel=0.01)


def test_a_gate_from_before_models_were_kept_stays_logistic(store: Store) -> None:
    league = found(store, model="normalized")
    brief = brief_of(store, opened(league).gate)
    assert brief.request is not None
    with store.sessions.begin() as session:
        gate = session.get_one(Gate, brief.gate)
        gate.settings = {name: value for name, value in gate.settings.items() if name != "model"}
    store("record_gate_batch", Batch(gate=brief.gate, batch=1, outcome=played(brief.request, [0.5, 0.75])))
    assert gates(league)[-1].llr == Sprt().judge([0, 0, 16, 16, 0]).llr


def test_both_sides_of_a_gate_search_where_its_file_says_so(store: Store) -> None:
    league = found(store, search=64)
    brief = brief_of(store, opened(league).gate)
    assert brief.request is not None
    bots = [contender.bot for contender in brief.request.contenders]
    with store.sessions() as session:
        versions = [session.get_one(ModelVersion, each.version) for each in brief.request.contenders]
        assert bots == [f"search-64-{version.sha256}" for version in versions], "the versions themselves are judged"
    store("record_gate_batch", Batch(gate=brief.gate, batch=1, outcome=played(brief.request, [0.5, 0.75])))
    assert gates(league)[-1].pairs == 32


def test_a_batch_counts_once(store: Store) -> None:
    league = found(store)
    judgement = opened(league)
    brief = brief_of(store, judgement.gate)
    assert brief.request is not None
    batch = Batch(gate=brief.gate, batch=1, outcome=played(brief.request, [0.5, 0.75]))
    answers = store.at_once("record_gate_batch", batch, batch, batch)
    assert answers == [answers[0]] * 3
    assert store("record_gate_batch", batch) == answers[0]
    assert answers[0].next_batch == 2
    gate = gates(league)[-1]
    assert (gate.pairs, gate.pentanomial) == (32, [0, 0, 16, 16, 0])
    assert store.count(GateBatch, GateBatch.gate_id == gate.id) == 1
    assert store.count(Match, Match.gate_id == gate.id) == 64
    assert len(league.events("gate.progress")) == 1


def test_a_batch_that_is_not_whole_or_out_of_turn_is_refused(store: Store) -> None:
    league = found(store)
    brief = brief_of(store, opened(league).gate)
    assert brief.request is not None
    whole = played(brief.request)
    for batch, outcome, words in ((1, PlayOutcome(games=whole.games[:-2]), "32 pairs"), (2, whole, "cannot follow")):
        with pytest.raises(ApplicationError, match=words) as refusal:
            store("record_gate_batch", Batch(gate=brief.gate, batch=batch, outcome=outcome))
        assert refusal.value.type == "bad_input"
    assert gates(league)[-1].pairs == 0


def test_the_newest_candidate_waits_and_then_meets_the_present_champion(store: Store) -> None:
    league = found(store)
    running = opened(league).gate
    assert league.live("main").gate is None
    assert league.live("main").gate is None
    assert [gate.status for gate in gates(league)] == ["passed", "running", "superseded", "waiting"]
    assert "newer candidate" in str(gates(league)[2].status_reason)
    end = play(store, brief_of(store, running), [1.0])
    waiting = gates(league)[3]
    assert (end.status, end.next_gate, end.next_trial) == ("passed", waiting.id, league.trial)
    assert brief_of(store, running) == end
    assert waiting.champion_version_id == champion(league) == league.versions("main-2")[0].id
    assert store("judge_generation", league.key("main", 4)).gate is None
    after = play(store, brief_of(store, waiting.id), [0.0])
    assert (after.status, after.next_gate) == ("failed", None)


def test_repeated_candidates_spend_the_champions_alpha(store: Store) -> None:
    league = found(store)
    league.live("main")
    for number in (1, 2, 3):
        judgement = league.live("main")
        gate = gates(league)[-1]
        assert gate.alpha == pytest.approx(alpha_for_candidate(0.05, number))
        play(store, brief_of(store, judgement.gate), [0.0])
    passed = league.live("main")
    play(store, brief_of(store, passed.gate), [1.0])
    league.live("main")
    assert gates(league)[-1].alpha == pytest.approx(alpha_for_candidate(0.05, 1))


def test_a_stopped_gate_is_invalid_and_its_place_is_taken(store: Store) -> None:
    league = found(store)
    running = opened(league).gate
    league.live("main")
    brief = brief_of(store, running)
    assert brief.request is not None
    stop = GateStop(gate=brief.gate, reason="taking too long")
    first, second = store.at_once("stop_gate", stop, stop)
    assert first == second
    assert (first.status, first.next_gate) == ("invalid", gates(league)[-1].id)
    late = store("record_gate_batch", Batch(gate=brief.gate, batch=1, outcome=played(brief.request)))
    assert late == first
    assert champion(league) == league.versions("main-1")[0].id
    decision = next(row for row in league.decisions(DecisionKind.PROMOTION) if row.gate_id == brief.gate)
    assert (decision.verdict, decision.evidence["status"]) == ("keep", "invalid")
    assert "taking too long" in decision.reason


def test_a_waiting_gate_can_be_stopped_too(store: Store) -> None:
    league = found(store)
    opened(league)
    league.live("main")
    waiting = gates(league)[-1]
    end = store("stop_gate", GateStop(gate=waiting.id, reason="not this one"))
    assert (end.status, end.next_gate) == ("invalid", None)
    assert [gate.status for gate in gates(league)] == ["passed", "running", "invalid"]


def test_a_gate_is_void_when_somebody_moves_the_alias(store: Store) -> None:
    league = found(store, model="normalized")
    brief = brief_of(store, opened(league).gate)
    assert brief.request is not None
    key = AliasKey(project_id=league.row.project_id, game=league.row.game, name=CHAMPION)
    with store.sessions.begin() as session:
        by_hand = Promotion(reason="a person knows better", actor="ada")
        move_alias(session, key, league.versions("main")[2].id, by_hand)
    end = store("record_gate_batch", Batch(gate=brief.gate, batch=1, outcome=played(brief.request)))
    again = gates(league)[-1]
    assert (end.status, end.next_gate) == ("invalid", again.id)
    assert again.candidate_version_id == league.versions("main-2")[0].id
    assert again.champion_version_id == league.versions("main")[2].id
    assert again.model == "normalized"
    assert store.count(Match, Match.gate_id == brief.gate) == 0


def test_a_person_who_promotes_while_a_pass_is_recorded_has_the_last_word(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    league = found(store, max_pairs=1)
    brief = brief_of(store, opened(league).gate)
    assert brief.request is not None
    chosen = league.versions("main")[2].id
    count, persons = gate_results._count, []

    def promote_by_hand() -> None:
        key = AliasKey(project_id=league.row.project_id, game=league.row.game, name=CHAMPION)
        with store.sessions.begin() as session:
            move_alias(session, key, chosen, Promotion(reason="a person knows better", actor="ada"))

    def meanwhile(*arguments: Any) -> Any:
        persons.append(threading.Thread(target=promote_by_hand))
        persons[0].start()
        persons[0].join(timeout=1)  # it waits for the gate, whose champion it would take away
        return count(*arguments)

    monkeypatch.setattr(gate_results, "_count", meanwhile)
    monkeypatch.setattr(gate_results, "_ENDS", dict.fromkeys(gate_results._ENDS, gate_results.GateStatus.PASSED))
    store("record_gate_batch", Batch(gate=brief.gate, batch=1, outcome=played(brief.request, [1.0])))
    persons[0].join()
    assert champion(league) == chosen
    with store.sessions() as session:
        key = AliasKey(project_id=league.row.project_id, game=league.row.game, name=CHAMPION)
        assert [move.actor.split()[0] for move in alias_history(session, key)] == ["gate", "gate", "ada"]


def test_two_trials_of_a_project_share_one_champion(store: Store) -> None:
    project = new_id()
    first, second = found(store, project=project), found(store, project=project)
    first.live("main")
    judgement = second.live("main")
    brief = brief_of(store, judgement.gate)
    assert brief.request is not None
    assert brief.request.contenders[1].version == first.versions("main-1")[0].id
    assert first.live("main").gate is None
    end = play(store, brief, [1.0])
    assert end.next_trial == first.trial
    with store.sessions() as session:
        key = AliasKey(project_id=first.row.project_id, game=first.row.game, name=CHAMPION)
        moves = [event.to_version_id for event in alias_history(session, key)]
    assert moves == [first.versions("main-1")[0].id, second.versions("main-1")[0].id]


def test_judgements_of_two_trials_at_once_open_one_gate(store: Store) -> None:
    project = new_id()
    leagues = [found(store, project=project) for _ in range(3)]
    leagues[0].live("main")
    for league in leagues:
        league.learn("main")
    keys = [league.key("main", league.player("main").generation) for league in leagues]
    answers = store.at_once("judge_generation", *keys)
    assert sum(answer.gate is not None for answer in answers) == 1
    statuses = sorted(gate.status for gate in gates(leagues[0]))
    assert statuses == ["passed", "running", "superseded", "waiting"]


def test_a_trial_without_a_gate_makes_no_champion(store: Store) -> None:
    league = store.found(league_file("self_play", snapshot=EVERY, champion_gate=None))
    assert league.live("main", 2).gate is None
    assert gates(league) == []


def test_an_unknown_gate_is_not_found(store: Store) -> None:
    with pytest.raises(ApplicationError) as refusal:
        store("gate_brief", GateRequest(gate=new_id()))
    assert refusal.value.type == "not_found"


def test_a_waiting_gate_that_is_stopped_makes_room_for_the_next(store: Store) -> None:
    league = found(store)
    running = brief_of(store, opened(league).gate)
    league.live("main")
    *_, waiting = gates(league)
    assert waiting.status == "waiting"
    with store.sessions.begin() as session:
        assert stop_waiting_gate(session, waiting.id, "not this one")
        assert not stop_waiting_gate(session, running.gate, "it runs: its workflow must be told")
    (ended,) = [gate for gate in gates(league) if gate.id == waiting.id]
    assert (ended.status, ended.status_reason) == ("invalid", "not this one")
    assert league.decisions(DecisionKind.PROMOTION)[-1].verdict == "keep"
    league.live("main")
    *_, following = gates(league)
    assert following.status == "waiting", "nobody stands in its way"
    end = play(store, running, [0.0, 0.25])
    assert (end.status, end.next_gate) == ("failed", following.id)
