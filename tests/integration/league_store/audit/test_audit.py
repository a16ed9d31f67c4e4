"""The audit: a whole league agrees with itself, and each kind of damage is found for what it is."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session

from api.schemas.canaries import ReportCanary
from api.store.aliases.canaries import record_canary
from api.store.core.ids import new_id
from api.store.forks.fork import fork_trial
from api.store.tables import Alias, ModelVersion, Trial
from api.store.verify import Finding, FindingKind, audit, wrong_rows
from league.types import ReturnTally
from orchestrator.contracts.play import EvaluationKey, EvaluationReport, GateBatch, GateBrief, GateRequest
from orchestrator.contracts.trials import EnterPlayers, TrialRequest
from orchestrator.storage.artifacts import ArtifactStore
from tests.integration.league_store.driver import EXPLOITER, MAIN, RANDOM, STEPS, League, Store, league_file
from tests.integration.league_store.games import played


@dataclass(frozen=True)
class Whole:
    """A finished league, to be damaged only in transactions that are rolled back."""

    engine: Engine
    artifacts: ArtifactStore

    def audit_with(self, damage: str) -> list[Finding]:
        """What the audit finds in rows after a change behind the back of every trigger and foreign key."""
        with Session(self.engine) as session:
            session.execute(text("SET LOCAL session_replication_role = replica"))
            changed: Any = session.execute(text(damage))
            assert changed.rowcount, "nothing was damaged"
            found = list(wrong_rows(session))
            session.rollback()
        return found


@pytest.fixture(scope="module")
def whole(store: Store) -> Whole:
    league = live_through_everything(store)
    fork = forked(league)
    fork.live("main", 1, metrics={"exact": 0.0})
    fork.live("main", 1, metrics={"exact": 1.0})
    alone = store.found(league_file("self_play") | {"game": {"id": "gymnasium", "env": "CartPole-v1"}})
    alone.live("main", 2, returns=ReturnTally(games=100, mean=21.5, deviations=900.0))
    return Whole(store.engine, store.artifacts)


def live_through_everything(store: Store) -> League:
    rules = {
        "snapshot": {"min_steps": STEPS, "max_steps": STEPS, "win_rate": 1.0},
        "matchmaking": {"include_bots": True},
        "payoff": {"inherit": True, "memory_games": 50},
    }
    file = league_file(players=[MAIN, EXPLOITER, RANDOM], **rules)
    target = {"budget": {"until": {"opponent": "first-legal"}}, "evaluation": {"games": 8}}
    league = store.found(file | target)
    for _ in range(3):
        gate = league.live("main").gate
        league.live("exploiter")
        if gate is not None:
            play(store, gate)
    evaluate(league)
    report_canaries(store)
    return league


def report_canaries(store: Store) -> None:
    """Two reports of a server that gave a candidate a share of its sessions."""
    with Session(store.engine) as session, session.begin():
        alias = session.scalars(select(Alias)).first()
        assert alias is not None
        canary = session.scalars(
            select(ModelVersion.id)
            .join(Trial, Trial.id == ModelVersion.trial_id)
            .where(Trial.project_id == alias.project_id, Trial.game == alias.game)
            .where(ModelVersion.sha256.is_not(None), ModelVersion.id != alias.version_id)
        ).first()
        for _ in range(2):
            report = {"report_id": new_id(), "champion_version_id": alias.version_id, "canary_version_id": canary}
            counts = {"losses": 3, "draws": 2, "wins": 5, "champion_sessions": 90, "canary_sessions": 10}
            returns = {"champion_returns": 9.0, "canary_returns": 2.0}
            record_canary(session, alias, ReportCanary.model_validate(report | counts | returns), "server")


def play(store: Store, gate: str) -> None:
    brief: GateBrief = store("gate_brief", GateRequest(gate=gate))
    while brief.request is not None:
        games = played(brief.request, [1.0, 0.75, 0.5])
        brief = store("record_gate_batch", GateBatch(gate=gate, batch=brief.next_batch, outcome=games))


def evaluate(league: League) -> None:
    player = league.player("main")
    key = EvaluationKey(trial=league.trial, player=player.id, generation=player.generation)
    request = league.store("plan_evaluation", key)
    report = EvaluationReport(
        trial=key.trial,
        player=key.player,
        generation=key.generation,
        request=request,
        outcome=played(request, [0.75, 0.5]),
    )
    league.store("record_evaluation", report)


def forked(league: League) -> League:
    with league.store.sessions.begin() as session:
        trial = fork_trial(session, league.trial, name="fork", at_commit=league.row.last_commit - 3)
    brief = league.store("begin_trial", TrialRequest(trial=trial.id))
    league.store("enter_players", EnterPlayers(trial=trial.id, initial=brief.initial))
    return League(league.store, trial.id)


def test_a_whole_league_agrees_with_itself(whole: Whole) -> None:
    report = audit(whole.engine, whole.artifacts)
    assert report.findings == ()
    assert report.agrees
    assert report.counts["trials"] == 3
    assert report.counts["generations"] == 10
    assert report.counts["inexact_generations"] == 1
    for what in ("tallies", "payoff_cells", "matches", "gates", "rating_fits", "files"):
        assert report.counts[what] > 0, what
    numbers = report.as_dict()
    assert [numbers[wrong] for wrong in FindingKind] == [0] * len(FindingKind)


ONE_TALLY = "ctid = (SELECT ctid FROM tallies WHERE stream = 'training' LIMIT 1)"
NEWEST = "number = (SELECT max(number) FROM generations) AND trial_id = (SELECT id FROM trials WHERE name = 'fork')"
LOST, DOUBLED, ORPHANED, DISAGREEING = (
    FindingKind.LOST,
    FindingKind.DOUBLED,
    FindingKind.ORPHANED,
    FindingKind.DISAGREEING,
)


@pytest.mark.parametrize(
    ("wrong", "words", "statement"),
    [
        # payoffs and tallies
        (DOUBLED, "the tallies have", f"DELETE FROM tallies WHERE {ONE_TALLY}"),
        (LOST, "the tallies have", f"UPDATE tallies SET wins = wins + 1 WHERE {ONE_TALLY}"),
        (DOUBLED, "games are stored", "UPDATE payoffs SET raw_wins = raw_wins * 2, raw_losses = raw_losses * 2"),
        (LOST, "0 games are stored", "DELETE FROM payoffs WHERE seat = 0"),
        (DISAGREEING, "decayed wins", "UPDATE payoffs SET wins = wins * 0.99999 WHERE wins > 0"),
        (DISAGREEING, "decayed returns", "UPDATE payoffs SET returns = returns + 0.00001"),
        (DISAGREEING, "decayed returns", "UPDATE payoffs SET returns = NULL, opponent_returns = NULL"),
        (DISAGREEING, "decayed returns", f"UPDATE tallies SET returns = returns + 1 WHERE {ONE_TALLY}"),
        (LOST, "games were counted", "UPDATE return_tallies SET games = games - 1"),
        (
            LOST,
            "none were counted of 100 games",
            'DELETE FROM return_tallies WHERE "commit" = (SELECT max("commit") FROM return_tallies)',
        ),
        (DISAGREEING, "the generation reported", "UPDATE return_tallies SET mean = mean + 1"),
        # generations and commits
        (LOST, "generations [3] are missing", "DELETE FROM generations WHERE number = 3"),
        (LOST, "is missing", f"DELETE FROM generations WHERE {NEWEST}"),
        (ORPHANED, "trained in no recorded", f"DELETE FROM generations WHERE {NEWEST}"),
        (ORPHANED, "was judged and is missing", f"DELETE FROM generations WHERE {NEWEST}"),
        (DISAGREEING, "are outside", "UPDATE players SET generation = generation - 1 WHERE generation > 0"),
        (DISAGREEING, "steps are stored", "UPDATE players SET steps = steps + 1000 WHERE name = 'main'"),
        (DISAGREEING, "steps are stored", "UPDATE trials SET steps = steps + 1000"),
        (DOUBLED, "come from one plan", "UPDATE generations SET plan_decision_id = 1"),
        (DOUBLED, "come from one seed", "UPDATE generations SET seed = 7"),
        (LOST, "has no plan of its own", "UPDATE generations SET plan_decision_id = NULL WHERE number = 2"),
        (LOST, "was never judged", "DELETE FROM decisions WHERE kind = 'snapshot' AND generation = 2"),
        (LOST, "has 0 events", "DELETE FROM events WHERE type = 'generation.recorded'"),
        (
            DOUBLED,
            "has 2 events",
            "INSERT INTO events (trial_id, type, payload) SELECT trial_id, type, payload FROM events"
            " WHERE type = 'generation.recorded' LIMIT 1",
        ),
        (LOST, "instead of one", "DELETE FROM model_versions WHERE origin = 'reset'"),
        (DISAGREEING, "are above the newest", "UPDATE trials SET last_commit = last_commit - 1"),
        # games, gates, aliases, ratings
        (LOST, "games exist", "DELETE FROM matches WHERE tournament_id IS NOT NULL AND seat = 0"),
        (DISAGREEING, "its games give", "UPDATE matches SET result = 'loss' WHERE result = 'draw'"),
        (LOST, "batch 1 counted", "DELETE FROM matches WHERE gate_id IS NOT NULL AND pair = 3 AND seat = 0"),
        (DISAGREEING, "its games give", "UPDATE matches SET result = 'loss' WHERE gate_id IS NOT NULL AND pair = 3"),
        (DISAGREEING, "recomputed as", "UPDATE gate_batches SET llr = llr + 0.5"),
        (DISAGREEING, "its counts say", "UPDATE gates SET status = 'failed' WHERE pairs > 0"),
        (DISAGREEING, "its batches give", "UPDATE gates SET pairs = pairs + 1 WHERE pairs > 0"),
        (LOST, "its alias never moved", "UPDATE alias_events SET gate_id = NULL WHERE revision = 2"),
        (LOST, "moves are missing", "DELETE FROM alias_events WHERE revision = 1"),
        (DISAGREEING, "says running at", "UPDATE canary_results SET wins = wins + 1"),
        (DISAGREEING, "says passed at", "UPDATE canary_results SET status = 'passed'"),
        (
            DISAGREEING,
            "its history ends",
            "UPDATE aliases SET version_id = (SELECT min(id::text)::uuid FROM model_versions)",
        ),
        (DISAGREEING, "recomputed at", "UPDATE ratings SET value = value + 1 WHERE value <> 0"),
        (LOST, "it saw", "DELETE FROM matches WHERE tournament_id IS NOT NULL AND seat = 0"),
        # rows without parents
        (ORPHANED, "table matches", "DELETE FROM gate_batches"),
        (ORPHANED, "table commits", "DELETE FROM trials WHERE name = 'fork'"),
        (ORPHANED, "table model_versions", "DELETE FROM commits WHERE kind = 'generation' AND number = 1"),
        (ORPHANED, "table generations", "DELETE FROM decisions WHERE kind = 'matchmaking'"),
    ],
)
def test_damage_to_rows_is_found(whole: Whole, wrong: FindingKind, words: str, statement: str) -> None:
    found = whole.audit_with(statement)
    said = [f"{finding.subject}: {finding.detail}" for finding in found if finding.wrong is wrong]
    assert any(words in line for line in said), found


def test_a_commit_without_a_row_is_lost(whole: Whole) -> None:
    (finding,) = whole.audit_with("UPDATE trials SET last_commit = last_commit + 1 WHERE name = 'fork'")
    assert finding.wrong is FindingKind.LOST
    assert "commits [" in finding.detail


def test_missing_and_damaged_files_are_told_apart(whole: Whole, tmp_path: Path) -> None:
    shutil.copytree(whole.artifacts.root_url, tmp_path / "copy")
    missing, cut, *_ = sorted(path for path in (tmp_path / "copy").rglob("*") if path.is_file())
    missing.unlink()
    cut.write_bytes(cut.read_bytes()[:-1])
    report = audit(whole.engine, ArtifactStore(str(tmp_path / "copy")))
    assert not report.agrees
    assert [report.number(wrong) for wrong in FindingKind] == [0, 0, 1, 1, 0]
    orphaned, damaged = sorted(report.findings, key=lambda finding: finding.wrong, reverse=True)
    assert missing.name in orphaned.subject
    assert f"{missing} is missing" in orphaned.detail
    assert cut.name in damaged.subject
    assert "cut short" in damaged.detail


def test_files_that_nothing_refers_to_are_garbage_and_nothing_wrong(whole: Whole, tmp_path: Path) -> None:
    shutil.copytree(whole.artifacts.root_url, tmp_path / "copy")
    artifacts = ArtifactStore(str(tmp_path / "copy"))
    artifacts.put(b"from an attempt that lost the race", kind="checkpoint")
    report = audit(whole.engine, artifacts)
    assert (report.agrees, report.garbage) == (True, 1)
