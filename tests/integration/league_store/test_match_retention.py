"""Retention of matches: old moves go, results stay, and with them all that is computed from them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest
from sqlalchemy import text
from typer.testing import CliRunner, Result

from api.activities.trials import TrialActivities
from api.store.core.errors import Gone
from api.store.matches import pruning
from api.store.matches.pruning import PrunedMatches, prune_matches
from api.store.matches.reads import moves_of, read_match
from api.store.tables import Alias, Gate, Match
from api.store.verify import audit
from lanista.cli import app
from orchestrator.contracts.play import GateBatch, GateBrief, GateRequest
from orchestrator.contracts.trials import TrialRequest
from tests.integration.league_store.driver import STEPS, League, Store, league_file
from tests.integration.league_store.games import played

EVERY = {"min_steps": STEPS, "max_steps": STEPS, "win_rate": 1.0}
MONTH = timedelta(days=30)


@pytest.fixture
def league(fresh_store: Store) -> Iterator[League]:
    """Three champions, one after the other; the games of both gates are 40 days old."""
    league = fresh_store.found(league_file("self_play", snapshot=EVERY))
    for _ in range(3):
        gate = league.live("main").gate
        if gate is not None:
            play(fresh_store, gate)
    assert [gate.status for gate in gates(league)] == ["passed"] * 3
    behind_the_guards(fresh_store, "UPDATE matches SET played_at = now() - interval '40 days'")
    yield league


def play(store: Store, gate: str, scores: Sequence[float] = (1.0,)) -> None:
    brief: GateBrief = store("gate_brief", GateRequest(gate=gate))
    while brief.request is not None:
        outcome = played(brief.request, scores)
        brief = store("record_gate_batch", GateBatch(gate=brief.gate, batch=brief.next_batch, outcome=outcome))


def gates(league: League) -> list[Gate]:
    return sorted(league.store.rows(Gate, Gate.trial_id == league.trial), key=lambda gate: gate.id)


def behind_the_guards(store: Store, change: str) -> None:
    with store.sessions.begin() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text(change))


def games_of(store: Store, gate: Gate) -> int:
    return store.count(Match, Match.gate_id == gate.id)


def pruned(store: Store) -> set[str | None]:
    """The gates whose matches have no moves."""
    return {match.gate_id for match in store.rows(Match, Match.moves_pruned_at.is_not(None))}


def results(store: Store) -> list[tuple[object, ...]]:
    return sorted((match.id, match.result, match.plies, match.seed, match.version_id) for match in store.rows(Match))


def test_moves_of_old_matches_go_and_results_stay(fresh_store: Store, league: League) -> None:
    _, first, second = gates(league)
    games, before = games_of(fresh_store, first), results(fresh_store)
    planned = prune_matches(fresh_store.sessions, MONTH, dry_run=True)
    assert pruned(fresh_store) == set(), "a dry run changes nothing"
    found = prune_matches(fresh_store.sessions, MONTH)
    assert planned == found
    assert [(each.trial_id, each.trial, each.matches) for each in found] == [(league.trial, league.row.name, games)]
    assert pruned(fresh_store) == {first.id}, "the present champion's games are kept"
    assert games_of(fresh_store, second) and results(fresh_store) == before
    (event,) = league.events("matches.pruned")
    assert (event["matches"], event["bytes"]) == (games, found[0].size) and found[0].size > 12 * games
    report = audit(fresh_store.engine, fresh_store.artifacts)
    assert report.agrees, report.findings
    assert report.counts["pruned_matches"] == games < report.counts["matches"]
    assert prune_matches(fresh_store.sessions, MONTH) == [], "the second time there is nothing left"
    assert len(league.events("matches.pruned")) == 1
    league.live("main")
    assert audit(fresh_store.engine, fresh_store.artifacts).agrees, "the league goes on"


def test_a_match_that_was_pruned_is_read_without_moves(fresh_store: Store, league: League) -> None:
    prune_matches(fresh_store.sessions, MONTH)
    for match in fresh_store.rows(Match):
        with fresh_store.sessions() as session:
            record = read_match(session, match.id)
            if match.moves_pruned_at is None:
                assert moves_of(record) == [4, 0, 8]
                continue
            with pytest.raises(Gone, match=rf"match {match.id} were pruned on 20..-..-..; its result is kept"):
                moves_of(record)


def test_young_matches_are_kept(fresh_store: Store, league: League) -> None:
    assert prune_matches(fresh_store.sessions, timedelta(days=41)) == []
    with pytest.raises(ValueError, match="at least a day"):
        prune_matches(fresh_store.sessions, timedelta(hours=23))


SHARE = """INSERT INTO share_links (id, token_sha256, created_by, created_at, {column}, expires_at, revoked_at)
SELECT gen_random_uuid(), repeat('a', 64), 'test', now() - interval '9 days', id, {ends} FROM {table}"""
OPEN_SHARE = "now() + interval '1 day', NULL"
TOURNAMENT = """INSERT INTO tournaments (id, project_id, trial_id, game, name, format, seed, spec, status, finished_at)
SELECT gen_random_uuid(), project_id, id, game, 't', 'round_robin', 1, '{}', 'completed', now() FROM trials;
UPDATE matches SET gate_id = NULL, stream = 'rating', tournament_id = (SELECT id FROM tournaments);
"""
PROBE = """INSERT INTO probes (id, project_id, trial_id, commit, target, spec, status, tournament_id)
SELECT gen_random_uuid(), project_id, trial_id, 1, '{{}}', '{{}}', '{status}', id FROM tournaments;"""


@pytest.mark.parametrize(
    ("change", "is_kept"),
    [
        (
            "UPDATE gates SET status = 'running', finished_at = NULL, alias = id WHERE champion_version_id IS NOT NULL",
            True,
        ),
        ("UPDATE gates SET status = 'failed' WHERE champion_version_id IS NOT NULL", False),
        (SHARE.format(column="trial_id", table="trials", ends=OPEN_SHARE), True),
        (SHARE.format(column="trial_id", table="trials", ends="now() - interval '1 day', NULL"), False),
        (SHARE.format(column="trial_id", table="trials", ends="now() + interval '1 day', now()"), False),
        (TOURNAMENT, False),
        (TOURNAMENT + "UPDATE tournaments SET status = 'running', finished_at = NULL", True),
        (TOURNAMENT + PROBE.format(status="running"), True),
        (TOURNAMENT + SHARE.format(column="tournament_id", table="tournaments", ends=OPEN_SHARE), True),
    ],
)
def test_matches_of_what_is_open_or_shared_are_kept(
    fresh_store: Store, league: League, change: str, is_kept: bool
) -> None:
    behind_the_guards(fresh_store, f"DELETE FROM aliases; {change}")
    matches = fresh_store.count(Match)
    found = prune_matches(fresh_store.sessions, MONTH)
    assert sum(each.matches for each in found) == (0 if is_kept else matches)


def test_games_of_a_version_that_an_alias_names_again_are_kept(fresh_store: Store, league: League) -> None:
    _, first, second = gates(league)
    (alias,) = fresh_store.rows(Alias)
    assert alias.version_id == second.candidate_version_id
    behind_the_guards(fresh_store, f"UPDATE aliases SET version_id = '{first.champion_version_id}'")
    prune_matches(fresh_store.sessions, MONTH)
    assert pruned(fresh_store) == {second.id}


def test_a_death_between_two_transactions_leaves_the_rest_for_the_next_time(
    fresh_store: Store, league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = games_of(fresh_store, gates(league)[1])
    monkeypatch.setattr(pruning, "AT_ONCE", 3)
    append, calls = pruning.append_events, []

    def dying(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) == 3:
            raise ConnectionError
        append(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(pruning, "append_events", dying)
    with pytest.raises(ConnectionError):
        prune_matches(fresh_store.sessions, MONTH)
    assert fresh_store.count(Match, Match.moves_pruned_at.is_not(None)) == 6, "the third transaction left nothing"
    (rest,) = prune_matches(fresh_store.sessions, MONTH)
    assert rest.matches == games - 6
    told = [event["matches"] for event in league.events("matches.pruned")]
    assert sum(told) == games and max(told) == 3
    assert audit(fresh_store.engine, fresh_store.artifacts).agrees


def test_matches_that_another_prunes_at_this_moment_are_left_to_it(fresh_store: Store, league: League) -> None:
    with fresh_store.sessions() as other:
        other.execute(text("SELECT FROM matches FOR NO KEY UPDATE"))
        assert prune_matches(fresh_store.sessions, MONTH) == []


def test_the_end_of_a_trial_prunes_some(fresh_store: Store, league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.activities.trials.MATCHES_OF_A_RUN", 5)
    activities = TrialActivities(fresh_store.engine, fresh_store.artifacts, garbage_age=MONTH, moves_age=MONTH)
    for number in (5, 10):
        activities.collect_garbage(TrialRequest(trial=league.trial))
        assert fresh_store.count(Match, Match.moves_pruned_at.is_not(None)) == number
    without = TrialActivities(fresh_store.engine, fresh_store.artifacts, garbage_age=MONTH)
    without.collect_garbage(TrialRequest(trial=league.trial))
    assert fresh_store.count(Match, Match.moves_pruned_at.is_not(None)) == 10, "off by default"


def test_a_project_wide_tournaments_matches_have_no_trial(fresh_store: Store, league: League) -> None:
    behind_the_guards(fresh_store, f"DELETE FROM aliases; {TOURNAMENT} UPDATE matches SET trial_id = NULL")
    (found,) = prune_matches(fresh_store.sessions, MONTH)
    assert found == PrunedMatches(
        trial_id=None, trial="tournaments of projects", matches=fresh_store.count(Match), size=found.size
    )


def test_the_command_prunes_and_refuses_to_guess(
    fresh_store: Store, league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANISTA_DATABASE_URL", fresh_store.engine.url.render_as_string(hide_password=False))
    monkeypatch.setenv("LANISTA_ARTIFACTS", fresh_store.artifacts.root_url)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["prune", *arguments])

    for wrong in ((), ("--matches-days", "30", "--every", "2"), ("--matches-days", "0")):
        assert run(*wrong).exit_code == 2
    assert "would be pruned" in run("--matches-days", "30", "--dry-run").output
    assert pruned(fresh_store) == set()
    done = json.loads(run("--matches-days", "30", "--json").output)
    assert [each["trial_id"] for each in done["matches"]] == [league.trial] and done["trials"] == []
    assert fresh_store.count(Match, Match.moves_pruned_at.is_not(None)) == done["matches"][0]["matches"]
    assert "The moves of 0 matches" in run("--matches-days", "30").output
