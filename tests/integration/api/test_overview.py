"""Whether a trial goes well, and what went wrong in it, as the API tells it."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from api.schemas.enums import PlayerStatus, TournamentStatus
from api.schemas.failures import FAILURE_KINDS
from api.store.core.ids import new_id
from api.store.tables import (
    Decision,
    Event,
    Gate,
    ModelVersion,
    Player,
    Rating,
    RatingCovariance,
    RatingFit,
    Tournament,
    Trial,
)
from api.store.tables.events import RARE_KINDS
from league.types import DecisionKind
from tests.integration.api.league import ReadableLeague, readable_league
from tests.integration.api.server import Served

LOST = {"failure": "worker_lost", "problem": "the worker sent no heartbeat in time", "tries": 2, "delay_seconds": 0.0}


@pytest.fixture
def readable(api: Served) -> ReadableLeague:
    return readable_league(api.sessions)


def tell(api: Served, trial: str, kind: str, payload: dict[str, Any], ago: timedelta = timedelta(0)) -> None:
    with api.sessions.begin() as session:
        at = datetime.now(UTC) - ago
        session.execute(insert(Event).values(trial_id=trial, type=kind, payload=payload, created_at=at))


def failures(viewer: httpx.Client, trial: str, **asked: Any) -> list[dict[str, Any]]:
    answer = viewer.get(f"/api/v1/trials/{trial}/failures", params=asked)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def overview(viewer: httpx.Client, trial: str) -> Any:
    answer = viewer.get(f"/api/v1/trials/{trial}/overview")
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_failed_attempt_stays_in_the_history(api: Served, viewer: httpx.Client, readable: ReadableLeague) -> None:
    main, trial = readable.league.players["main"], readable.trial_id
    lost = {**LOST, "player": main, "name": "main", "generation": 3, "lost_steps": 41_000}
    tell(api, trial, "generation_retried", lost)
    tell(api, trial, "gate_retried", {**LOST, "gate": readable.gate_id, "alias": "champion"})
    tell(api, trial, "generation.recorded", {"player_id": main, "player": "main", "generation": 3})
    gate, generation = failures(viewer, trial)
    assert (generation["player"], generation["generation"], generation["attempts"]) == ("main", 3, 2)
    assert (generation["lost_steps"], generation["problem"]) == (41_000, LOST["problem"])
    assert generation["text"] == (
        "Generation 3 of main: attempt 2 failed and lost 41,000 steps, tried again at once: "
        "the worker sent no heartbeat in time"
    )
    assert (gate["gate_id"], gate["player_id"]) == (readable.gate_id, None)
    assert failures(viewer, trial, player_id=main) == [generation]
    assert failures(viewer, trial, player_id=readable.league.players["rival"]) == []


def test_a_failure_says_when_a_later_attempt_succeeded(
    api: Served, viewer: httpx.Client, readable: ReadableLeague
) -> None:
    main, trial = readable.league.players["main"], readable.trial_id
    attempt = {**LOST, "player": main, "name": "main"}
    tell(api, trial, "generation_retried", {**attempt, "generation": 9})
    tell(api, trial, "generation_retried", {**attempt, "generation": 2}, ago=timedelta(hours=1))
    tell(api, trial, "gate_retried", {**LOST, "gate": readable.gate_id, "alias": "champion"}, ago=timedelta(hours=1))
    gate, second, ninth = failures(viewer, trial)
    assert gate["recovered_at"] > gate["at"] and second["recovered_at"] > second["at"]
    assert ninth["recovered_at"] is None, "the generation has not been recorded"
    assert [each["outcome"] for each in (gate, second, ninth)] == ["recovered", "recovered", "open"]
    assert overview(viewer, trial)["newest_problem"]["recovered_at"] == gate["recovered_at"]


def test_a_damaged_checkpoint_is_lost_with_its_player_or_good_with_a_newer_version(
    api: Served, viewer: httpx.Client, readable: ReadableLeague
) -> None:
    main, trial = readable.league.players["main"], readable.trial_id
    newest = readable.league.version_of("main")
    with api.sessions() as session:
        older = _version_before(session, newest)
    long_ago = timedelta(hours=1)
    about = {"player_id": main, "player": "main", "reason": "it is damaged", "problem": "the file is cut short"}
    tell(api, trial, "checkpoint.damaged", {**about, "verdict": "retired", "version_id": newest.id})
    tell(api, trial, "checkpoint.damaged", {**about, "verdict": "avoided", "version_id": older.id}, ago=long_ago)
    tell(api, trial, "checkpoint.damaged", {**about, "verdict": "avoided", "version_id": newest.id})
    open_, replaced, retired = failures(viewer, trial)
    assert (retired["outcome"], retired["outcome_reason"], retired["recovered_at"]) == ("lost", "player retired", None)
    assert replaced["outcome"] == "recovered" and replaced["recovered_at"] > replaced["at"]
    assert (open_["outcome"], open_["outcome_reason"]) == ("open", None)


def test_every_kind_of_failure_has_an_outcome(api: Served, viewer: httpx.Client, readable: ReadableLeague) -> None:
    main, trial = readable.league.players["main"], readable.trial_id
    attempt = {**LOST, "player": main, "name": "main", "generation": 2}
    tell(api, trial, "trial.stalled", {"minutes": 30.0}, ago=timedelta(hours=1))
    tell(api, trial, "workflow.restarted", {"what": "player", "name": "main", "how": "terminated"})
    tell(api, trial, "evaluation_retried", attempt, ago=timedelta(hours=1))
    tell(api, trial, "evaluation.recorded", {"player_id": main, "player": "main", "generation": 2})
    tell(api, trial, "evaluation_dropped", attempt)
    tell(api, trial, "pairing.retried", {**LOST, "tournament_id": new_id(), "round": 0, "pair": 0})
    tell(api, trial, "weights_retried", LOST)
    found = {each["type"]: (each["outcome"], each["outcome_reason"]) for each in failures(viewer, trial)}
    assert found == {
        "trial.stalled": ("recovered", None),
        "workflow.restarted": ("recovered", None),
        "evaluation_retried": ("recovered", None),
        "evaluation_dropped": ("lost", "a later version is measured instead"),
        "pairing.retried": ("open", None),
        "weights_retried": ("open", None),
    }


def test_nothing_of_a_retired_player_or_an_ended_trial_is_open(
    api: Served, viewer: httpx.Client, readable: ReadableLeague
) -> None:
    main, trial = readable.league.players["main"], readable.trial_id
    tell(api, trial, "generation_retried", {**LOST, "player": main, "name": "main", "generation": 9})
    tell(api, trial, "weights_retried", LOST)
    with api.sessions.begin() as session:
        player = session.get_one(Player, main)
        player.status, player.retired_at = PlayerStatus.RETIRED, datetime.now(UTC)
    tell(api, trial, "player.retired", {"player_id": main, "player": "main", "reason": "its checkpoint is damaged"})
    weights, generation = failures(viewer, trial)
    assert (generation["outcome"], generation["outcome_reason"]) == ("lost", "player retired")
    assert weights["outcome"] == "open"
    shown = viewer.get(f"/api/v1/players/{main}").json()
    assert (shown["retired_reason"], shown["version_damaged"]) == ("its checkpoint is damaged", False)


def test_a_pairing_of_a_tournament_that_ended_is_not_tried_again(
    api: Served, viewer: httpx.Client, readable: ReadableLeague
) -> None:
    with api.sessions.begin() as session:
        tournament = session.scalars(select(Tournament)).first()
        assert tournament is not None
        held, tournament.status, tournament.finished_at = tournament.id, TournamentStatus.CANCELLED, datetime.now(UTC)
    tell(api, readable.trial_id, "pairing.retried", {**LOST, "tournament_id": held, "round": 9, "pair": 0})
    (pairing,) = failures(viewer, readable.trial_id)
    assert (pairing["outcome"], pairing["outcome_reason"]) == ("lost", "the tournament ended")


def test_a_version_whose_checkpoint_was_found_damaged_says_so(
    api: Served, viewer: httpx.Client, readable: ReadableLeague
) -> None:
    newest = readable.league.version_of("main")
    with api.sessions.begin() as session:
        decision = Decision(
            trial_id=readable.trial_id,
            player_id=newest.player_id,
            version_id=newest.id,
            kind=DecisionKind.ROLLBACK,
            verdict="retired",
            reason="it is damaged",
            evidence={"sha256": newest.sha256, "problem": "the file is cut short"},
        )
        session.add(decision)
    assert viewer.get(f"/api/v1/versions/{newest.id}").json()["damaged"] is True
    shown = viewer.get(f"/api/v1/players/{newest.player_id}").json()
    assert (shown["retired_reason"], shown["version_damaged"]) == (None, True)
    rival = readable.league.version_of("rival")
    assert viewer.get(f"/api/v1/versions/{rival.id}").json()["damaged"] is False


def test_the_history_has_pages(api: Served, viewer: httpx.Client, readable: ReadableLeague) -> None:
    for tries in range(3):
        tell(api, readable.trial_id, "weights_retried", {**LOST, "tries": tries + 1})
    first = viewer.get(f"/api/v1/trials/{readable.trial_id}/failures", params={"limit": 2}).json()
    rest = failures(viewer, readable.trial_id, limit=2, cursor=first["next_cursor"])
    assert [each["attempts"] for each in [*first["items"], *rest]] == [3, 2, 1]


def test_a_failed_trial_is_a_failure_and_an_ended_one_is_none(
    api: Served, viewer: httpx.Client, readable: ReadableLeague
) -> None:
    tell(api, readable.trial_id, "trial.status", {"from": "running", "to": "paused"})
    tell(api, readable.trial_id, "trial.status", {"from": "running", "to": "failed", "reason": "the game raised"})
    (failed,) = failures(viewer, readable.trial_id)
    assert failed["problem"] == "the game raised"


def test_a_stall_is_in_the_history_and_counted(api: Served, viewer: httpx.Client, readable: ReadableLeague) -> None:
    before = overview(viewer, readable.trial_id)["problems_last_hour"]
    tell(api, readable.trial_id, "trial.stalled", {"minutes": 30.0})
    assert failures(viewer, readable.trial_id)[0]["text"].startswith("Nothing of the trial was recorded for 30 minutes")
    assert overview(viewer, readable.trial_id)["problems_last_hour"] == before + 1


def test_every_kind_of_failure_is_in_the_index() -> None:
    assert set(FAILURE_KINDS) < set(RARE_KINDS)


def test_problems_of_the_last_hour_are_counted(api: Served, viewer: httpx.Client, readable: ReadableLeague) -> None:
    assert overview(viewer, readable.trial_id)["problems_last_hour"] == 0
    tell(api, readable.trial_id, "weights_retried", LOST, ago=timedelta(hours=2))
    old = overview(viewer, readable.trial_id)
    assert old["problems_last_hour"] == 0 and old["newest_problem"]["attempts"] == 2
    tell(api, readable.trial_id, "weights_retried", LOST, ago=timedelta(minutes=50))
    assert overview(viewer, readable.trial_id)["problems_last_hour"] == 1


def test_the_champion_is_that_of_the_trials_own_gate(
    api: Served, viewer: httpx.Client, readable: ReadableLeague
) -> None:
    assert overview(viewer, readable.trial_id)["champion"] is None
    alias = f"champion-{readable.trial_id[-12:]}"
    with api.sessions.begin() as session:
        trial = session.get_one(Trial, readable.trial_id)
        league = {**trial.spec.get("league", {}), "champion_gate": {"alias": alias}}
        session.execute(update(Trial).where(Trial.id == trial.id).values(spec={**trial.spec, "league": league}))
    champion = overview(viewer, readable.trial_id)["champion"]
    assert (champion["player"], champion["number"], champion["alias"]) == ("main", 2, alias)
    assert champion["since"].endswith("Z") and champion["trial_id"] == readable.trial_id


def test_the_gain_has_the_interval_of_the_difference(
    api: Served, viewer: httpx.Client, readable: ReadableLeague
) -> None:
    assert overview(viewer, readable.trial_id)["gain"] is None, "one version of main is rated, which is no gain"
    with api.sessions.begin() as session:
        newest = readable.league.version_of("main")
        earlier = _version_before(session, newest)
        fit = session.get_one(RatingFit, readable.fit_id)
        session.add(Rating(fit_id=fit.id, version_id=earlier.id, value=60.0, deviation=7.0, games=4, rank=3))
        session.execute(delete(RatingCovariance).where(RatingCovariance.fit_id == fit.id))
        # the earlier version's id is the smaller one: variances 49 and 100, and 40 between them
        triangle = RatingCovariance(fit_id=fit.id, versions=[earlier.id, newest.id], upper_triangle=[49.0, 40.0, 100.0])
        session.add(triangle)
        steps, newest_player = newest.steps - earlier.steps, newest.player_id
    gain = overview(viewer, readable.trial_id)["gain"]
    assert gain["player_id"] == newest_player
    assert gain["player"] == "main" and gain["to_steps"] - gain["from_steps"] == steps
    scale = 1_000_000 / steps
    width = 1.96 * math.sqrt(49 + 100 - 2 * 40) * scale
    expected = (40 * scale, 40 * scale - width, 40 * scale + width)
    assert (gain["per_million_steps"], gain["low"], gain["high"]) == pytest.approx(expected, rel=1e-3)


def _version_before(session: Session, newest: ModelVersion) -> ModelVersion:
    return session.scalars(
        select(ModelVersion).where(ModelVersion.player_id == newest.player_id, ModelVersion.number == newest.number - 1)
    ).one()


def test_a_gate_under_way_stands_between_its_bounds(
    api: Served, viewer: httpx.Client, readable: ReadableLeague
) -> None:
    assert overview(viewer, readable.trial_id)["gates"] == [], "the gate that is decided is not under way"
    with api.sessions.begin() as session:
        decided = session.get_one(Gate, readable.gate_id)
        left_out = {"id", "status", "finished_at", "llr", "alias", "created_at"}
        same = {column.key: getattr(decided, column.key) for column in Gate.__table__.c if column.key not in left_out}
        session.add(Gate(**same, status="running", llr=1.5, alias="open"))
    (gate,) = overview(viewer, readable.trial_id)["gates"]
    assert (gate["candidate"], gate["champion"], gate["pairs"]) == ("main v2", "rival v0", 10)
    assert (gate["lower_bound"], gate["llr"], gate["upper_bound"]) == (-2.9, 1.5, 2.9)


def test_a_tournament_under_way_says_how_far_it_is(api: Served, viewer: httpx.Client, readable: ReadableLeague) -> None:
    assert overview(viewer, readable.trial_id)["tournaments"] == []
    with api.sessions.begin() as session:
        running = {"status": "running", "started_at": datetime.now(UTC)}
        session.execute(update(Tournament).where(Tournament.trial_id == readable.trial_id).values(running))
    (tournament,) = overview(viewer, readable.trial_id)["tournaments"]
    assert (tournament["name"], tournament["pairings_played"], tournament["pairings_known"]) == ("t", 0, 1)


def test_a_trial_that_is_not_there_has_no_overview(viewer: httpx.Client) -> None:
    for path in ("overview", "failures"):
        assert viewer.get(f"/api/v1/trials/{new_id()}/{path}").status_code == 404
