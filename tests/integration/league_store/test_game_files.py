"""Games that travel as files: recorded from there, kept until then, and garbage afterwards."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import update
from temporalio.exceptions import ApplicationError

from api.store.checkpoints.garbage import collect_garbage
from api.store.core.clock import now
from api.store.tables import Match, Tournament
from league.types import CheckpointRef, Stream
from orchestrator.contracts.play import EvaluationKey, EvaluationReport, GateBatch, PlayOutcome, PlayRequest
from orchestrator.storage.played_games import MOST_BYTES, pack_games, unpack_games
from tests.integration.league_store.driver import League, Store, league_file
from tests.integration.league_store.games import played
from tests.integration.league_store.gates.test_gates import brief_of, found, opened

AT_ONCE = timedelta(seconds=-1)


def measured(store: Store) -> tuple[League, PlayRequest]:
    """A league that waits for games against its target."""
    target = {"until": {"opponent": "first-legal", "win_rate": 0.8}}
    league = store.found(league_file("self_play") | {"budget": target, "evaluation": {"games": 2000}})
    league.learn("main")
    return league, store("plan_evaluation", key(league))


def key(league: League) -> EvaluationKey:
    return EvaluationKey(trial=league.trial, player=league.player("main").id, generation=1)


def report(league: League, request: PlayRequest, outcome: PlayOutcome) -> EvaluationReport:
    at = key(league)
    return EvaluationReport(
        trial=at.trial, player=at.player, generation=at.generation, request=request, outcome=outcome
    )


def in_a_file(store: Store, request: PlayRequest) -> tuple[PlayOutcome, CheckpointRef]:
    outcome = pack_games(played(request).games, store.artifacts)
    assert outcome.stored is not None and outcome.games == []
    return outcome, outcome.stored


def test_what_is_read_is_what_was_sent(store: Store) -> None:
    _, request = measured(store)
    games = played(request).games
    outcome, file = in_a_file(store, request)
    assert unpack_games(outcome, store.artifacts) == games and file.size < len(games) * 40
    few = pack_games(games[:10], store.artifacts)
    assert few == PlayOutcome(games=games[:10]) and unpack_games(few, store.artifacts) == games[:10]
    long = replace(games[0], moves=[1] * MOST_BYTES)
    assert pack_games([long], store.artifacts).stored is not None


def test_an_evaluation_and_a_gate_are_recorded_from_files(store: Store) -> None:
    league, request = measured(store)
    outcome, _ = in_a_file(store, request)
    states = store.at_once("record_evaluation", *[report(league, request, outcome)] * 2)
    assert [state.games for state in states] == [2000, 2000]
    assert store.count(Match, Match.trial_id == league.trial, Match.stream == Stream.RATING) == 2000
    gate = brief_of(store, opened(found(store)).gate)
    assert gate.request is not None
    games = [replace(game, moves=[0] * 1000) for game in played(gate.request, [1.0, 0.0]).games]
    batch = GateBatch(gate=gate.gate, batch=1, outcome=pack_games(games, store.artifacts))
    assert batch.outcome.stored is not None
    assert store("record_gate_batch", batch).next_batch == 2


def test_games_that_are_gone_have_a_failure_of_their_own(store: Store) -> None:
    league, request = measured(store)
    outcome, file = in_a_file(store, request)
    gone = replace(file, uri=file.uri.replace(file.sha256, "0" * 64), sha256="0" * 64)
    with pytest.raises(ApplicationError, match="played again") as lost:
        store("record_evaluation", report(league, request, replace(outcome, stored=gone)))
    assert lost.value.type == "games_lost" and lost.value.non_retryable
    assert store("record_evaluation", report(league, request, outcome)).games == 2000


def test_a_file_of_games_is_garbage_once_nobody_waits_for_it(fresh_store: Store) -> None:
    store = fresh_store
    league, request = measured(store)
    outcome, file = in_a_file(store, request)

    def collected(older_than: timedelta = AT_ONCE) -> int:
        return len(collect_garbage(store.sessions, store.artifacts, older_than=older_than).uris)

    begin_at(store, timedelta(seconds=-60))
    assert collected() == 0, "it may have been written for what is open"
    begin_at(store, timedelta(seconds=60))
    assert collected() == 1, "it was there before that began"
    outcome, file = in_a_file(store, request)
    begin_at(store, timedelta(seconds=-60))
    assert store("record_evaluation", report(league, request, outcome)).games == 2000
    assert collected(timedelta(hours=1)) == 0 and store.artifacts.exists(file), "it is recorded, but young"
    assert collected() == 1 and not store.artifacts.exists(file)
    assert store("record_evaluation", report(league, request, PlayOutcome(games=[]))).games == 2000


def begin_at(store: Store, moment: timedelta) -> None:
    """As if what is open had begun at another time."""
    with store.sessions.begin() as session:
        session.execute(update(Tournament).values(started_at=now(session) + moment))
