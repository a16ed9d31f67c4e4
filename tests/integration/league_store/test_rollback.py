"""Damaged checkpoints: the learner goes back, frozen players retire, other learners are left alone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session
from temporalio.exceptions import ApplicationError

from api.activities import TrialActivities
from api.schemas.enums import PlayerStatus
from api.store.checkpoints import garbage
from api.store.checkpoints.garbage import collect_garbage
from api.store.core.errors import Conflict
from api.store.core.installation import check_sole_installation, installation_id
from api.store.players.project_bots import bot_version
from api.store.tables import Decision, ModelVersion, Trial
from api.store.trials.spec import spec_of
from lanista.checks import doctor
from league.types import CheckpointRef, DecisionKind
from orchestrator.contracts.generations import GenerationPlan, Rollback, roll_back
from orchestrator.contracts.trials import GarbageReport, TrialRequest
from orchestrator.searching import searching_bot
from orchestrator.storage.artifacts import ArtifactStore, ArtifactStoreFull, MissingArtifact, StoredFile, unreadable
from orchestrator.storage.installation_marks import MARKS, leave_mark, marks_in
from orchestrator.storage.played_games import GAMES_KIND
from tests.integration.league_store.driver import EXPLOITER, MAIN, Store, league_file


def file_of(checkpoint: CheckpointRef | ModelVersion) -> Path:
    return Path(str(checkpoint.uri).removeprefix("file://"))


def cut_short(*versions: ModelVersion | CheckpointRef) -> None:
    for version in versions:
        file_of(version).write_bytes(b"half of it")


def rollback(plan: GenerationPlan, problem: str = "cut short") -> Rollback:
    return Rollback(
        trial=plan.trial, player=plan.player, generation=plan.generation, attempt=plan.attempt, problem=problem
    )


def cannot_be_read(version: ModelVersion) -> str:
    """What a train worker says of a file that is what was stored, and no checkpoint."""
    return unreadable(str(version.uri), "not a safetensors file")


def test_a_learner_goes_back_to_its_last_good_version(store: Store) -> None:
    league = store.found(league_file("self_play"))
    league.live("main")
    good = league.versions("main")[1]
    league.learn("main")
    league.learn("main")
    plan = league.plan("main")
    cut_short(*league.versions("main")[2:])
    store.at_once("roll_back", rollback(plan), rollback(plan))
    store("roll_back", rollback(plan))
    *_, skipped, damaged, back = league.versions("main")
    assert (back.origin, back.sha256, back.parent_id, back.number) == ("rollback", good.sha256, good.id, 4)
    (decision,) = league.decisions(DecisionKind.ROLLBACK)
    assert (decision.version_id, decision.commit) == (damaged.id, back.commit)
    assert decision.evidence["skipped"] == [skipped.id]
    assert decision.evidence["problem"] == "cut short"
    assert len(league.events("player.rollback")) == 1
    again = league.plan("main", attempt=2)
    assert (again.version, again.checkpoint.sha256) == (back.id, good.sha256)
    assert again.seed == plan.seed
    store("record_generation", league.report(again))
    assert league.player("main").generation == 4


def test_the_oldest_refuge_is_where_the_player_started(store: Store) -> None:
    league = store.found(league_file("self_play"))
    league.learn("main")
    plan = league.plan("main")
    cut_short(league.versions("main")[1])
    store("roll_back", rollback(plan))
    assert league.versions("main")[-1].sha256 == league.versions("main")[0].sha256


def test_without_a_good_version_it_says_so(fresh_store: Store) -> None:
    league = fresh_store.found(league_file("self_play"))
    league.learn("main")
    plan = league.plan("main")
    cut_short(*league.versions("main"))
    with pytest.raises(ApplicationError, match="no undamaged version left") as refusal:
        fresh_store("roll_back", rollback(plan))
    assert refusal.value.type == "bad_input"


def test_a_sound_checkpoint_changes_nothing(store: Store) -> None:
    league = store.found(league_file("self_play"))
    store("roll_back", rollback(league.plan("main")))
    assert len(league.versions("main")) == 1
    assert league.decisions(DecisionKind.ROLLBACK) == []


def test_only_what_the_problem_names_is_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    league = store.found(league_file("fictitious"))
    league.live("main", 6)
    plan = league.plan("main")
    assert len(plan.opponents) > 2
    own, opponent = league.versions("main")[-1], plan.opponents[0]
    file_of(own).write_bytes(b"X" * (own.size or 0))
    assert opponent.checkpoint is not None
    cut_short(opponent.checkpoint)
    read: list[str] = []
    verify = store.artifacts.verify

    def noted(ref: CheckpointRef) -> None:
        read.append(ref.sha256)
        verify(ref)

    monkeypatch.setattr(store.artifacts, "verify", noted)
    store("roll_back", rollback(plan, f"artifact {own.uri} is damaged (changed): ..."))
    assert read == [own.sha256, league.versions("main")[-3].sha256], "itself, and where it goes back to"
    verdicts = {decision.verdict for decision in league.decisions(DecisionKind.ROLLBACK)}
    assert verdicts == {"rolled back", "retired"}, "one that was cut short is seen by its size"


def test_a_file_that_is_whole_and_cannot_be_read_is_left_behind(store: Store) -> None:
    league = store.found(league_file("self_play"))
    league.learn("main")
    league.learn("main")
    oldest, older, newest = league.versions("main")
    store("roll_back", rollback(league.plan("main"), cannot_be_read(newest)))
    assert league.versions("main")[-1].sha256 == older.sha256
    # the next is none either: nothing that was left behind comes back
    store("roll_back", rollback(league.plan("main", attempt=2), cannot_be_read(older)))
    assert league.versions("main")[-1].sha256 == oldest.sha256
    with pytest.raises(ApplicationError, match="no undamaged version left"):
        store("roll_back", rollback(league.plan("main", attempt=3), cannot_be_read(oldest)))


def test_an_opponent_that_cannot_be_read_retires(store: Store) -> None:
    league = store.found(league_file("fictitious"))
    league.live("main", 3)
    plan = league.plan("main")
    store("roll_back", rollback(plan, cannot_be_read(league.versions("main-1")[0])))
    assert league.player("main-1").status is PlayerStatus.RETIRED


def test_a_named_file_that_is_sound_changes_nothing(store: Store) -> None:
    """A worker that looks into another store calls everything missing."""
    league = store.found(league_file("self_play"))
    plan = league.plan("main")
    assert plan.checkpoint is not None
    store("roll_back", rollback(plan, str(MissingArtifact(plan.checkpoint.uri, plan.checkpoint.sha256))))
    assert league.decisions(DecisionKind.ROLLBACK) == []


def test_reading_large_files_has_its_time() -> None:
    assert roll_back.heartbeat is not None
    assert roll_back.heartbeat >= timedelta(minutes=1) and roll_back.start_to_close >= timedelta(minutes=30)


def test_a_damaged_opponent_of_the_past_retires(store: Store) -> None:
    league = store.found(league_file("fictitious"))
    league.live("main", 3)
    plan = league.plan("main")
    assert [opponent.player for opponent in plan.opponents] == [league.player("main-1").id]
    cut_short(league.versions("main-1")[0])
    store.at_once("roll_back", rollback(plan), rollback(plan))
    assert league.player("main-1").status is PlayerStatus.RETIRED
    (decision,) = league.decisions(DecisionKind.ROLLBACK)
    assert decision.verdict == "retired"
    assert len(league.events("player.retired")) == 1
    (event,) = league.events("checkpoint.damaged")
    assert (event["player"], event["verdict"], event["problem"]) == ("main-1", "retired", rollback(plan).problem)
    again = league.plan("main", attempt=2)
    assert [opponent.player for opponent in again.opponents] == [league.player("main").id]


def test_another_learner_is_met_in_an_older_version_and_left_alone(store: Store) -> None:
    league = store.found(league_file(players=[MAIN, EXPLOITER]))
    league.learn("main")
    training = league.plan("main")
    plan = league.plan("exploiter")
    cut_short(league.versions("main")[1])
    store("roll_back", rollback(plan))
    store("roll_back", rollback(plan))
    (decision,) = league.decisions(DecisionKind.ROLLBACK)
    assert (decision.verdict, decision.player_id) == ("avoided", league.player("exploiter").id)
    again = league.plan("exploiter", attempt=2)
    assert again.opponents[0].version == league.versions("main")[0].id
    store("record_generation", league.report(training))
    assert league.player("main").generation == 2
    assert len(store.rows(Decision, Decision.player_id == league.player("main").id, Decision.attempt > 1)) == 0


def test_garbage_is_what_no_version_names_and_is_old_enough(fresh_store: Store) -> None:
    league = fresh_store.found(league_file("self_play"))
    plan = league.plan("main")
    reports = [league.report(plan, weights=attempt) for attempt in range(3)]
    winner = fresh_store("record_generation", reports[0])
    for late in reports[1:]:
        assert fresh_store("record_generation", late) == winner
    request = TrialRequest(trial=league.trial)
    assert fresh_store("collect_garbage", request) == GarbageReport(files=0, bytes=0)
    impatient = TrialActivities(fresh_store.engine, fresh_store.artifacts, garbage_age=timedelta(seconds=-1))
    collected = impatient.collect_garbage(request)
    assert collected.files == 2
    assert collected.bytes == sum(late.outcome.checkpoint.size for late in reports[1:])
    kept = {reference.sha256 for reference in fresh_store.artifacts.stored()}
    assert kept == {version.sha256 for version in league.versions("main")}
    assert fresh_store("record_generation", reports[1]) == winner


def test_what_another_installation_keeps_in_the_same_place_is_not_garbage(store: Store, fresh_store: Store) -> None:
    theirs = Store.open(store.engine, ArtifactStore(fresh_store.artifacts.root_url))
    kept = theirs.found(league_file("self_play")).versions("main")[0]
    ours = fresh_store.found(league_file("self_play"))
    lost = fresh_store.weights("lost")
    impatient = TrialActivities(fresh_store.engine, fresh_store.artifacts, garbage_age=timedelta(seconds=-1))
    with pytest.raises(ApplicationError, match="other installations keep checkpoints") as refusal:
        impatient.collect_garbage(TrialRequest(trial=ours.trial))
    assert refusal.value.non_retryable
    assert file_of(kept).exists() and file_of(lost).exists()
    with store.sessions() as session:
        (Path(fresh_store.artifacts.root_url) / MARKS / installation_id(session)).unlink()
    assert impatient.collect_garbage(TrialRequest(trial=ours.trial)).files >= 1
    assert not file_of(lost).exists()


async def test_the_doctor_names_those_who_keep_checkpoints_in_the_same_place(
    store: Store, fresh_store: Store, fresh_postgres_url: str
) -> None:
    environment = {"LANISTA_DATABASE_URL": fresh_postgres_url, "LANISTA_ARTIFACTS": fresh_store.artifacts.root_url}
    assert "by this installation" in await doctor._artifacts(environment)
    assert marks_in(fresh_store.artifacts.root_url) == set(), "looking leaves no trace"
    Store.open(store.engine, ArtifactStore(fresh_store.artifacts.root_url)).found(league_file("self_play"))
    with pytest.raises(Conflict, match="other installations keep checkpoints"):
        await doctor._artifacts(environment)


@pytest.mark.parametrize("marked", [True, False])
def test_a_full_store_can_be_cleared(fresh_store: Store, monkeypatch: pytest.MonkeyPatch, marked: bool) -> None:
    lost = fresh_store.weights("lost")
    if marked:
        with fresh_store.sessions() as session:
            check_sole_installation(session, fresh_store.artifacts)

    def full(fs: object, path: str, data: bytes) -> None:
        raise ArtifactStoreFull(path, "No space left on device")

    monkeypatch.setattr("orchestrator.storage.artifacts.write_whole", full)
    monkeypatch.setattr("orchestrator.storage.installation_marks.write_whole", full)
    collected = collect_garbage(fresh_store.sessions, fresh_store.artifacts, older_than=timedelta(seconds=-1))
    assert [Path(uri).name for uri in collected.uris] == [lost.sha256]


def test_a_checkpoint_that_a_bot_searches_with_is_kept(fresh_store: Store) -> None:
    league = fresh_store.found(league_file("self_play"))
    searched, lost = fresh_store.weights("searched"), fresh_store.weights("lost")
    with fresh_store.sessions.begin() as session:
        trial = session.get_one(Trial, league.trial)
        bot_version(session, trial.project_id, spec_of(trial).game, searching_bot(64, searched.sha256), prefer=None)
    collected = collect_garbage(fresh_store.sessions, fresh_store.artifacts, older_than=timedelta(seconds=-1))
    names = [Path(uri).name for uri in collected.uris]
    assert lost.sha256 in names and searched.sha256 not in names


def test_an_address_is_shown_without_its_password(fresh_store: Store, tmp_path: Path) -> None:
    named = ArtifactStore("memory://ada:secret@" + tmp_path.name)
    leave_mark(named.root_url, "another")
    with fresh_store.sessions() as session, pytest.raises(Conflict) as refusal:
        check_sole_installation(session, named)
    assert f"memory://{tmp_path.name}" in str(refusal.value) and "secret" not in str(refusal.value)


def test_games_that_are_awaited_are_known_from_one_listing(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    minutes_ago = {b"before it began": 180, b"since": 10}
    games = [fresh_store.artifacts.put(data, kind=GAMES_KIND) for data in minutes_ago]
    for ref, minutes in zip(games, minutes_ago.values(), strict=True):
        os.utime(file_of(ref), (time.time() - 60 * minutes,) * 2)
    listed, listings = fresh_store.artifacts._files, []
    monkeypatch.setattr(fresh_store.artifacts, "_files", lambda: listings.append(1) or listed())
    monkeypatch.setattr(garbage, "_oldest_open", lambda session: datetime.now(UTC) - timedelta(hours=1))
    collected = collect_garbage(fresh_store.sessions, fresh_store.artifacts, older_than=timedelta(minutes=5))
    assert collected.uris == (games[0].uri,) and listings == [1]
    monkeypatch.setattr(garbage, "_oldest_open", lambda session: None)
    collected = collect_garbage(fresh_store.sessions, fresh_store.artifacts, older_than=timedelta(minutes=5))
    assert collected.uris == (games[1].uri,)


def test_what_is_named_while_garbage_is_collected_stays(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    league = fresh_store.found(league_file("self_play"))
    plan = league.plan("main")
    named, lost = (league.report(plan, weights=attempt) for attempt in range(2))
    listed = fresh_store.artifacts.files_older_than

    def recorded_meanwhile(older_than: timedelta) -> list[StoredFile]:
        found = listed(older_than)
        # no lock is held while the store is listed, or this would wait for ever
        fresh_store("record_generation", named)
        return found

    monkeypatch.setattr(fresh_store.artifacts, "files_older_than", recorded_meanwhile)
    collected = collect_garbage(fresh_store.sessions, fresh_store.artifacts, older_than=timedelta(seconds=-1))
    assert [Path(uri).name for uri in collected.uris] == [lost.outcome.checkpoint.sha256]
    assert fresh_store.artifacts.exists(named.outcome.checkpoint)


def test_what_is_named_between_listing_and_removal_stays(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    league = fresh_store.found(league_file("self_play"))
    named = league.report(league.plan("main"))
    looked = garbage._few_at_once

    def recorded_meanwhile(files: list[StoredFile]) -> list[list[StoredFile]]:
        few = list(looked(files))
        if named.outcome.checkpoint.sha256 in {file.name for file in files} and not league.player("main").generation:
            monkeypatch.setattr(garbage, "_few_at_once", looked)
            fresh_store("record_generation", named)
        return few

    with fresh_store.sessions() as session:
        candidates = garbage._unnamed(session, fresh_store.artifacts.files_older_than(timedelta(seconds=-1)))
    assert [file.name for file in candidates] == [named.outcome.checkpoint.sha256]
    monkeypatch.setattr(garbage, "_unnamed", once_stale(garbage._unnamed, candidates))
    monkeypatch.setattr(garbage, "_few_at_once", recorded_meanwhile)
    collected = collect_garbage(fresh_store.sessions, fresh_store.artifacts, older_than=timedelta(seconds=-1))
    assert collected.uris == () and fresh_store.artifacts.exists(named.outcome.checkpoint)


def once_stale(look: Callable[..., Any], first: list[StoredFile]) -> Callable[..., Any]:
    """Answers as it was before the first time, and truly from then on."""
    answers = [first]

    def unnamed(session: Session, files: list[StoredFile]) -> list[StoredFile]:
        return answers.pop() if answers else look(session, files)

    return unnamed
