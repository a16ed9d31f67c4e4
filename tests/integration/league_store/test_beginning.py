"""The beginning of a trial: its brief, first versions, status, and notes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import insert, text
from sqlalchemy.exc import IntegrityError
from temporalio.exceptions import ApplicationError

from api.store.core.ids import new_id
from api.store.tables import Event, Player
from api.store.trials.status import stop_pending_trial
from league.types import CheckpointRef, Role
from orchestrator.contracts.trials import EnterPlayers, StatusChange, TrialBrief, TrialEvent, TrialRequest
from tests.integration.league_store.driver import EXPLOITER, MAIN, RANDOM, League, Store, league_file


def refused(store: Store, activity: str, message: object) -> ApplicationError:
    with pytest.raises(ApplicationError) as refusal:
        store(activity, message)
    assert refusal.value.non_retryable
    return refusal.value


def test_the_brief_says_what_the_workflow_needs(store: Store) -> None:
    file = league_file(players=[MAIN, EXPLOITER, RANDOM]) | {
        "budget": {"steps": 5000, "wall_clock": "2m", "until": {"opponent": "mcts-20", "win_rate": 0.8}},
        "start": "paused",
    }
    league = store.create(file)
    brief: TrialBrief = store("begin_trial", TrialRequest(trial=league.trial))
    assert [(learner.name, learner.role, learner.generation) for learner in brief.learners] == [
        ("main", Role.MAIN, 0),
        ("exploiter", Role.MAIN_EXPLOITER, 0),
    ]
    assert brief.game.id == "tic_tac_toe"
    assert brief.model.id == "mlp"
    assert brief.initial is None
    assert brief.start_paused
    assert (brief.budget_steps, brief.wall_clock_seconds) == (5000, 120.0)
    assert brief.target is not None
    assert (brief.target.opponent, brief.target.win_rate) == ("mcts-20", 0.8)
    assert league.row.workflow_started_at is not None
    assert store("begin_trial", TrialRequest(trial=league.trial)) == brief


def test_a_trial_that_does_not_exist_is_not_found(store: Store) -> None:
    assert refused(store, "begin_trial", TrialRequest(trial=new_id())).type == "not_found"
    assert refused(store, "begin_trial", TrialRequest(trial="no id")).type == "bad_input"


def test_players_enter_once_however_often_and_by_whom(store: Store) -> None:
    league = store.create(league_file(players=[MAIN, EXPLOITER, RANDOM]))
    entry = EnterPlayers(trial=league.trial, initial=store.weights("initial"))
    store.at_once("enter_players", entry, entry)
    store("enter_players", entry)
    for name, origin, sha256 in (
        ("main", "initial", entry.initial.sha256),
        ("exploiter", "initial", entry.initial.sha256),
        ("random", "bot", None),
    ):
        (version,) = league.versions(name)
        assert (version.number, version.origin, version.sha256, version.steps) == (0, origin, sha256, 0)
    brief: TrialBrief = store("begin_trial", TrialRequest(trial=league.trial))
    assert brief.initial == entry.initial


def test_a_target_outside_the_league_joins_it_but_is_never_drawn(store: Store) -> None:
    file = league_file("fictitious", [MAIN, RANDOM], matchmaking={"include_bots": True})
    league = store.found(file | {"budget": {"until": {"opponent": "first-legal"}}})
    target = league.player("first-legal")
    assert (target.role, target.bot) == (Role.BOT, "first-legal")
    drawn = {opponent.player for opponent in league.plan("main").opponents}
    assert drawn == {league.player("random").id}


def test_a_target_inside_the_league_is_not_added_twice(store: Store) -> None:
    league = store.found(league_file() | {"budget": {"until": {"opponent": "random"}}})
    assert league.names() == ["main", "random"]


def test_weights_can_come_from_another_trials_version(store: Store) -> None:
    elder = store.found()
    recorded = elder.learn("main")
    league = store.found(league_file() | {"initial_weights": recorded.version})
    (version,) = league.versions("main")
    assert (version.origin, version.sha256) == ("imported", recorded.checkpoint.sha256)
    other_model = store.create(league_file() | {"initial_weights": recorded.version, "model": {"hidden": [8]}})
    failure = refused(store, "begin_trial", TrialRequest(trial=other_model.trial))
    assert failure.type == "bad_input"
    assert "another model" in failure.message


def test_players_may_bring_weights_of_their_own(store: Store) -> None:
    recorded = store.found().learn("main")
    veteran = {"name": "veteran", "role": "historical", "weights": recorded.version}
    league = store.found(league_file(players=[MAIN, veteran]))
    (version,) = league.versions("veteran")
    assert (version.origin, version.sha256) == ("imported", recorded.checkpoint.sha256)
    assert league.versions("main")[0].origin == "initial"


def test_status_changes_once_and_only_as_allowed(store: Store, league: League) -> None:
    running = StatusChange(trial=league.trial, status="running")
    store.at_once("change_status", running, running)
    store("change_status", StatusChange(trial=league.trial, status="stopped", reason="enough"))
    store("change_status", StatusChange(trial=league.trial, status="stopped", reason="enough"))
    assert league.row.status_reason == "enough"
    assert league.row.finished_at is not None
    assert [(event["from"], event["to"]) for event in league.events("trial.status")] == [
        ("pending", "running"),
        ("running", "stopped"),
    ]
    failure = refused(store, "change_status", running)
    assert failure.type == "bad_input"
    assert "is stopped and cannot become running" in failure.message
    assert "allowed: pending" in refused(store, "change_status", StatusChange(trial=league.trial, status="odd")).message


def test_a_note_is_taken_once_for_its_key(store: Store, league: League) -> None:
    note = TrialEvent(trial=league.trial, key="main:3", type="generation_retried", payload={"failure": "stalled"})
    store.at_once("note_event", note, note)
    store("note_event", TrialEvent(trial=league.trial, key="main:4", type="generation_retried"))
    assert [event["key"] for event in league.events("generation_retried")] == ["main:3", "main:4"]
    assert league.events("generation_retried")[0]["failure"] == "stalled"


def test_a_note_of_a_player_has_its_name_and_its_id(store: Store, league: League) -> None:
    player = league.player("main")
    payload = {"player": player.id, "name": "main", "generation": 4, "failure": "stalled", "problem": "no progress"}
    store("note_event", TrialEvent(trial=league.trial, key="named", type="evaluation_dropped", payload=payload))
    (event,) = league.events("evaluation_dropped")
    assert (event["player_id"], event["player"], event["name"]) == (player.id, "main", "main")


def test_a_note_of_a_kind_that_is_not_known_is_kept(store: Store, league: League) -> None:
    store("note_event", TrialEvent(trial=league.trial, key="k", type="plug-in.danced", payload={"how": "well"}))
    assert league.events("plug-in.danced") == [{"how": "well", "key": "k"}]


def test_entering_adds_no_player_rows(store: Store, league: League) -> None:
    assert store.count(Player, Player.trial_id == league.trial) == 2


def test_weights_that_are_gone_are_not_named(store: Store) -> None:
    league = store.create()
    lost = CheckpointRef(uri=f"checkpoint/aa/{'a' * 64}", sha256="a" * 64, size=1)
    refusal = refused(store, "enter_players", EnterPlayers(trial=league.trial, initial=lost))
    assert refusal.type == "damaged_checkpoint" and "missing" in refusal.message
    assert league.versions("main") == []


def test_a_note_is_taken_once_and_found_by_an_index(store: Store) -> None:
    league = store.create()
    note = TrialEvent(trial=league.trial, key="k", type="generation_retried", payload={"tries": 1})
    store.at_once("note_event", *[note] * 6)
    store("note_event", replace(note, type="evaluation_retried"))
    assert [event["tries"] for event in league.events("generation_retried")] == [1]
    assert len(league.events("evaluation_retried")) == 1, "another kind has keys of its own"
    with store.engine.begin() as connection, pytest.raises(IntegrityError, match="ix_events_key"):
        connection.execute(insert(Event).values(trial_id=league.trial, type="generation_retried", payload={"key": "k"}))
    query = "EXPLAIN SELECT 1 FROM events WHERE trial_id = :trial AND type = 'player.added' AND payload ->> 'key' = 'k'"
    with store.engine.begin() as connection:
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        connection.execute(text("SET LOCAL enable_bitmapscan = off"))
        plan = connection.execute(text(query), {"trial": league.trial}).scalars().all()
    assert "ix_events_key" in " ".join(plan)


def test_a_brief_says_that_the_trial_was_withdrawn(store: Store) -> None:
    league = store.create()
    with store.sessions.begin() as session:
        assert stop_pending_trial(session, league.trial, "a mistake")
        assert not stop_pending_trial(session, league.trial, "again")
    brief: TrialBrief = store("begin_trial", TrialRequest(trial=league.trial))
    assert brief.over and (league.row.status, league.row.status_reason) == ("stopped", "a mistake")
    assert not store("begin_trial", TrialRequest(trial=store.create().trial)).over
