"""Retention: old checkpoints of training go, and nothing goes that something needs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import text

from api.activities.trials import TrialActivities
from api.schemas.enums import AliasMove
from api.store.aliases.moves import AliasKey, Promotion, move_alias
from api.store.backup.write import write_backup
from api.store.checkpoints.garbage import collect_garbage
from api.store.checkpoints.pruning import BackupUnderWay, Pruned, Retention, prune_checkpoints
from api.store.core.errors import Conflict
from api.store.core.locks import BACKUP_LOCK, CHECKPOINTS_LOCK
from api.store.forks.fork import fork_trial
from api.store.matches.move_requests import opponent_of
from api.store.players.pruned import refuse_pruned
from api.store.tables import ModelVersion, PrunedVersion, Trial
from api.store.tournaments.entrants import Arena, resolve_entrants
from api.store.trials.spec import spec_of
from api.store.verify import audit
from orchestrator.contracts.trials import TrialRequest
from tests.integration.league_store.driver import League, Store, league_file

KEEP_THREE = Retention(newest=3)


@pytest.fixture
def league(fresh_store: Store) -> Iterator[League]:
    """Versions 0 to 8 of `main`; no snapshots."""
    rules = {"snapshot": {"min_steps": 10**9, "max_steps": 10**9, "win_rate": 1.0}}
    league = fresh_store.found(league_file("self_play", **rules))
    league.live("main", 8)
    yield league


def prune(store: Store, retention: Retention = KEEP_THREE) -> list[Pruned]:
    return prune_checkpoints(store.sessions, retention)


def pruned_numbers(store: Store) -> list[int]:
    gone = {row.version_id for row in store.rows(PrunedVersion)}
    return sorted(row.number for row in store.rows(ModelVersion) if row.id in gone)


def collect(store: Store) -> int:
    return len(collect_garbage(store.sessions, store.artifacts, older_than=timedelta(seconds=-1)).uris)


def test_the_first_the_newest_and_every_nth_version_are_kept(fresh_store: Store, league: League) -> None:
    planned = prune_checkpoints(fresh_store.sessions, Retention(newest=3, every=4), dry_run=True)
    assert fresh_store.count(PrunedVersion) == 0, "a dry run changes nothing"
    (pruned,) = prune(fresh_store, Retention(newest=3, every=4))
    assert planned == [pruned] and pruned_numbers(fresh_store) == [1, 2, 3, 5]
    sizes = [version.size or 0 for version in league.versions("main") if version.number in (1, 2, 3, 5)]
    assert (pruned.versions, pruned.files, pruned.size) == (4, 4, sum(sizes))
    (event,) = league.events("checkpoints.pruned")
    assert (event["versions"], event["bytes"], event["newest"], event["every"]) == (4, sum(sizes), 3, 4)
    assert prune(fresh_store, Retention(newest=3, every=4)) == [], "the second time there is nothing left"


def test_the_files_go_as_garbage_and_the_audit_stays_clean(fresh_store: Store, league: League) -> None:
    prune(fresh_store)
    report = audit(fresh_store.engine, fresh_store.artifacts)
    assert report.agrees and report.garbage == 5, "marked, and not yet removed: as after a crash"
    assert collect(fresh_store) == 5
    report = audit(fresh_store.engine, fresh_store.artifacts)
    assert report.agrees, report.findings
    assert (report.counts["pruned_versions"], report.counts["files"], report.garbage) == (5, 4, 0)
    league.live("main", 2)
    activities = TrialActivities(
        fresh_store.engine, fresh_store.artifacts, garbage_age=timedelta(seconds=-1), retention=KEEP_THREE
    )
    assert activities.collect_garbage(TrialRequest(trial=league.trial)).files == 2, "it prunes before it collects"
    assert audit(fresh_store.engine, fresh_store.artifacts).agrees, "the league goes on"


def test_what_an_alias_a_fork_or_a_snapshot_has_is_kept(fresh_store: Store, league: League) -> None:
    versions = {version.number: version for version in league.versions("main")}
    with fresh_store.sessions.begin() as session:
        trial = session.get_one(Trial, league.trial)
        key = AliasKey(project_id=trial.project_id, game=trial.game, name="champion")
        for number in (2, 4):  # the earlier holder is what a roll back goes to
            promotion = Promotion(reason="test", actor="test", move=AliasMove.SET)
            move_alias(session, key, versions[number].id, promotion)
        fork_trial(session, league.trial, name="fork", at_commit=versions[3].commit)
    prune(fresh_store)
    assert pruned_numbers(fresh_store) == [1, 5]


def test_what_a_trial_file_or_an_unrecorded_plan_names_is_kept(fresh_store: Store, league: League) -> None:
    versions = {version.number: version for version in league.versions("main")}
    league.plan("main")
    with fresh_store.sessions.begin() as session:
        session.execute(
            text("UPDATE trials SET spec = jsonb_set(spec, '{initial_weights}', to_jsonb(CAST(:id AS text)))"),
            {"id": versions[1].id},
        )
        session.execute(text("ALTER TABLE decisions DISABLE TRIGGER append_only"))
        session.execute(
            text(
                "UPDATE decisions SET evidence = evidence || jsonb_build_object('x', CAST(:id AS text)) "
                "WHERE generation = 9"
            ),
            {"id": versions[2].id},
        )
        session.execute(text("ALTER TABLE decisions ENABLE TRIGGER append_only"))
    prune(fresh_store)
    assert pruned_numbers(fresh_store) == [3, 4, 5]


def test_forks_matches_and_entrants_of_a_pruned_version_are_refused_in_words(
    fresh_store: Store, league: League
) -> None:
    prune(fresh_store)
    version = next(version for version in league.versions("main") if version.number == 2)
    with fresh_store.sessions.begin() as session:
        trial = session.get_one(Trial, league.trial)
        arena = Arena(project_id=trial.project_id, game=spec_of(trial).game, trial=trial)
        for refused in (
            lambda: fork_trial(session, league.trial, name="fork", at_commit=version.commit),
            lambda: resolve_entrants(session, arena, [f"version:{version.id}"]),
            lambda: opponent_of(session, version.id),
            lambda: refuse_pruned(session, version.id),
        ):
            with pytest.raises(Conflict, match=r"the checkpoint of main v2 \(version .*\) was pruned on 20"):
                refused()
        assert opponent_of(session, version.id, plays=False), "recorded games of it are still replayed"
        entrants = resolve_entrants(session, arena, ["every:2"])
        assert [entrant.version.number for entrant in entrants] == [0, 6, 8], "a rule finds those that were kept"


def test_nothing_is_pruned_while_a_backup_is_written(fresh_store: Store, league: League, tmp_path: object) -> None:
    with fresh_store.engine.connect() as backup:
        backup.execute(text(f"SELECT pg_advisory_lock_shared({BACKUP_LOCK})"))
        with pytest.raises(BackupUnderWay):
            prune(fresh_store)
        backup.execute(text(f"SELECT pg_advisory_unlock_shared({BACKUP_LOCK})"))
    write_backup(fresh_store.engine, fresh_store.artifacts, tmp_path)  # type: ignore[arg-type]
    assert len(prune(fresh_store)) == 1, "a backup that is complete holds nothing up"


def test_somebody_who_just_referred_to_a_version_is_waited_for(fresh_store: Store, league: League) -> None:
    version = next(version for version in league.versions("main") if version.number == 2)
    with fresh_store.sessions() as forking:
        fork_trial(forking, league.trial, name=f"fork-{uuid4().hex[:6]}", at_commit=version.commit)
        with fresh_store.sessions() as other, pytest.raises(Exception, match="lock timeout"):
            other.execute(text("SET LOCAL lock_timeout = '200ms'"))
            other.execute(text(f"SELECT pg_advisory_xact_lock({CHECKPOINTS_LOCK})"))
        forking.commit()
    prune(fresh_store)
    assert 2 not in pruned_numbers(fresh_store)


def test_one_version_is_too_few() -> None:
    with pytest.raises(ValueError, match="at least the 2 newest"):
        Retention(newest=1)
