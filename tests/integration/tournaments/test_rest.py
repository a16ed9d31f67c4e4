"""Tournaments and schedules over REST, against a real API, Temporal and Postgres."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from sqlalchemy import update
from temporalio.client import Client
from typer.testing import CliRunner

from api.schemas.enums import Overlap, Scope, TournamentStatus, TrialStatus
from api.settings import ApiSettings
from api.store.core.ids import new_id
from api.store.tables import Schedule, Tournament, Trial
from api.store.tournaments.schedules import Timing, create_schedule
from api.store.trials.create import create_trial
from api.store.trials.status import change_status
from api.web.app import make_services
from api.web.auth.sessions import SessionSigner
from api.web.temporal.reconcile import Reconciler
from lanista.cli import app
from orchestrator.contracts.tournaments import Firing, TournamentRequest, schedule_id
from orchestrator.spec.reading.checking import check_spec
from orchestrator.spec.tournament import check_tournament
from tests.integration.api.server import PLAIN, Served, patient_api, running_api
from tests.integration.api.test_repetitions import dying_before_the_answer
from tests.integration.tournaments.hall import PATIENCE, TIC_TAC_TOE, Hall, graded

pytestmark = pytest.mark.asyncio(loop_scope="module")

API = "/api/v1"


@pytest.fixture(scope="module")
def served(hall: Hall, temporal: Client, postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("artifacts")
    address = temporal.service_client.config.target_host
    with patient_api(), running_api(postgres_url, address, folder) as api:
        yield api


@pytest_asyncio.fixture(loop_scope="module")
async def rest(served: Served, hall: Hall, temporal: Client) -> AsyncIterator[httpx.AsyncClient]:
    """An operator's connection, with workers that hold tournaments."""
    hall.before_game = lambda request: None
    headers = {"Authorization": f"Bearer {served.tokens[Scope.OPERATOR]}"}
    async with hall.workers(temporal), httpx.AsyncClient(base_url=served.base, headers=headers, **PLAIN) as client:
        yield client
        await until(lambda: hall.under_way == 0)  # see Hall.workers


def reconciler(hall: Hall, temporal: Client) -> Reconciler:
    return Reconciler(make_services(ApiSettings(), hall.engine, temporal, SessionSigner(None, 60)))


async def until(check: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        answer = check()
        if await answer if asyncio.iscoroutine(answer) else answer:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("did not happen in time")


async def ended(rest: httpx.AsyncClient, tournament: str) -> dict[str, Any]:
    async def is_over() -> bool:
        return (await rest.get(f"{API}/tournaments/{tournament}")).json()["finished_at"] is not None

    await until(is_over)
    found: dict[str, Any] = (await rest.get(f"{API}/tournaments/{tournament}")).json()
    return found


async def test_a_tournament_from_request_to_report(rest: httpx.AsyncClient) -> None:
    spec = {"game": TIC_TAC_TOE, "format": "swiss", "entrants": graded(5), "games": 10, "rounds": 3, "seed": 3}
    body, key = {"project": "rest", "spec": spec}, {"Idempotency-Key": "once"}
    made = await rest.post(f"{API}/tournaments", json=body, headers=key)
    assert made.status_code == 201, made.text
    tournament = made.json()["id"]
    assert (await rest.post(f"{API}/tournaments", json=body, headers=key)).json()["id"] == tournament
    over = await ended(rest, tournament)
    assert (over["status"], over["entrants"], over["pairings_played"]) == ("completed", 5, 9)
    listed = (await rest.get(f"{API}/tournaments", params={"project": "rest"})).json()["items"]
    assert [each["id"] for each in listed] == [tournament]
    table = (await rest.get(f"{API}/tournaments/{tournament}/standings")).json()
    assert table["anchor"] == "random" and len(table["items"]) == 5 and table["next_cursor"] is None
    for part, key in (("standings", "rank"), ("entrants", "number")):
        url = f"{API}/tournaments/{tournament}/{part}"
        whole, pages = (await rest.get(url)).json(), await _pages(rest, url, limit=2)
        assert [len(page["items"]) for page in pages] == [2, 2, 1]
        assert [line for page in pages for line in page["items"]] == whole["items"]
        assert [line[key] for line in whole["items"]] == sorted(line[key] for line in whole["items"])
    assert all(line["low"] <= line["elo"] <= line["high"] for line in table["items"])
    seen, cursor = [], None
    while True:
        params = {"limit": 4} | ({"cursor": cursor} if cursor else {})
        page = (await rest.get(f"{API}/tournaments/{tournament}/pairings", params=params)).json()
        seen += [(each["round"], each["pair"]) for each in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == sorted(set(seen)) and len(seen) == 9
    await _reports(rest, tournament)
    again = await rest.post(f"{API}/tournaments/{tournament}/cancel")
    assert again.status_code == 409 and again.json()["tournament_status"] == "completed"


async def _pages(rest: httpx.AsyncClient, url: str, *, limit: int) -> list[dict[str, Any]]:
    pages: list[dict[str, Any]] = [(await rest.get(url, params={"limit": limit})).json()]
    while (cursor := pages[-1]["next_cursor"]) is not None:
        pages.append((await rest.get(url, params={"limit": limit, "cursor": cursor})).json())
    return pages


async def _reports(rest: httpx.AsyncClient, tournament: str) -> None:
    url = f"{API}/tournaments/{tournament}/report"
    report = (await rest.get(url)).json()
    assert report["games"] == 60 and sum(line["games"] for line in report["standings"]) == 120
    met = sum(cell["wins"] + cell["draws"] + cell["losses"] for cell in report["cross_table"])
    assert met == 60
    assert all(game["expected"] < 0.5 for game in report["instructive_games"])
    texts = {form: (await rest.get(url, params={"format": form})).text for form in ("csv", "markdown", "html")}
    assert len(texts["csv"].splitlines()) == 6
    for text in texts.values():
        assert all(line["label"] in text for line in report["standings"])
    assert "## Cross table" in texts["markdown"] and "<script" not in texts["html"]


async def test_no_list_shows_the_trial_that_holds_the_bots_of_a_project(rest: httpx.AsyncClient) -> None:
    body = {"project": "bots-only", "spec": {"game": TIC_TAC_TOE, "entrants": graded(2), "games": 2}}
    assert (await rest.post(f"{API}/tournaments", json=body)).status_code == 201
    trials = (await rest.get(f"{API}/trials", params={"archived": "true", "project": "bots-only"})).json()
    assert trials["items"] == []
    projects = (await rest.get(f"{API}/projects", params={"limit": 100})).json()["items"]
    assert [project["trials"] for project in projects if project["name"] == "bots-only"] == [0]


async def test_what_is_wrong_is_said_at_once(rest: httpx.AsyncClient, served: Served) -> None:
    async def refused(**spec: Any) -> httpx.Response:
        return await rest.post(f"{API}/tournaments", json={"project": "rest", "spec": spec})

    wrong = await refused(game=TIC_TAC_TOE, entrants=["newest"], games=3)
    assert wrong.status_code == 422 and len(wrong.json()["errors"]) == 2
    assert (await refused(game=TIC_TAC_TOE, entrants=["bot:random"])).status_code == 409
    assert (await refused(trial="nobody")).status_code == 404
    assert (await refused(trial="a", game=TIC_TAC_TOE)).status_code == 422
    viewer = {"Authorization": f"Bearer {served.tokens[Scope.VIEWER]}"}
    body = {"spec": {"game": TIC_TAC_TOE, "entrants": graded(2)}}
    assert (await rest.post(f"{API}/tournaments", json=body, headers=viewer)).status_code == 403


async def test_a_schedule_fires_without_overlap_pauses_is_triggered_and_goes(
    rest: httpx.AsyncClient, hall: Hall, temporal: Client
) -> None:
    body = {
        "project": "timed",
        "name": "often",
        "every_seconds": 1,
        "tournament": {"game": TIC_TAC_TOE, "entrants": graded(3), "games": 2},
    }
    made = (await rest.post(f"{API}/schedules", json=body)).json()
    url = f"{API}/schedules/{made['id']}"
    mine = Tournament.schedule_id == made["id"]
    completed = Tournament.status == TournamentStatus.COMPLETED
    await until(lambda: hall.count(Tournament, mine, completed) >= 3)
    assert (await rest.patch(url, json={"paused": True, "pause_note": "enough"})).json()["paused"]
    # the row says completed a moment before its workflow ends, and a firing during one that runs is skipped
    await until(lambda: _rests(temporal, made["id"]))
    await until(lambda: hall.count(Tournament, mine, ~completed) == 0)
    held = sorted(hall.rows(Tournament, mine), key=lambda each: each.started_at)
    assert all(before.finished_at <= after.started_at for before, after in pairwise(held))
    assert len({each.seed for each in held}) == len(held), "no two firings play the same games"
    described = await temporal.get_schedule_handle(schedule_id(made["id"])).describe()
    assert described.schedule.state.paused and described.schedule.state.note == "enough"
    count = len(held)
    await until(lambda: _triggered(rest, url, lambda: hall.count(Tournament, mine) > count))
    await until(lambda: hall.count(Tournament, mine, ~completed) == 0)
    shown = (await rest.get(url)).json()
    assert shown["fired"] >= count and shown["taken"] and shown["last_error"] is None
    assert not (await rest.patch(url, json={"paused": False})).json()["paused"]
    resumed = hall.count(Tournament, mine, completed)
    await until(lambda: hall.count(Tournament, mine, completed) > resumed)
    assert (await rest.delete(url)).status_code == 204
    assert (await rest.get(url)).status_code == 404
    with pytest.raises(Exception, match=r"not found|no rows"):
        await temporal.get_schedule_handle(schedule_id(made["id"])).describe()


async def _triggered(rest: httpx.AsyncClient, url: str, fired: Callable[[], bool]) -> bool:
    """Ask for a firing and give it a while; one that Temporal skipped is asked for again."""
    assert (await rest.post(f"{url}/trigger")).status_code == 202
    for _ in range(100):
        if fired():
            return True
        await asyncio.sleep(0.05)
    return False


async def _rests(temporal: Client, schedule: str) -> bool:
    described = await temporal.get_schedule_handle(schedule_id(schedule)).describe()
    return not described.info.running_actions


async def test_a_firing_is_one_tournament_and_ends_what_temporal_terminated(hall: Hall) -> None:
    spec = check_tournament({"game": TIC_TAC_TOE, "entrants": graded(2), "games": 2})
    timing = Timing(every_seconds=60, overlap=Overlap.TERMINATE_OTHER)
    with hall.sessions.begin() as session:
        schedule = create_schedule(session, "fired", "hasty", timing, spec).id
    first = hall.store["open_scheduled_tournament"](Firing(schedule=schedule, occasion=f"{schedule}-1"))
    assert first == hall.store["open_scheduled_tournament"](Firing(schedule=schedule, occasion=f"{schedule}-1"))
    hall.store["plan_pairings"](TournamentRequest(tournament=first.tournament))
    second = hall.store["open_scheduled_tournament"](Firing(schedule=schedule, occasion=f"{schedule}-2"))
    before, after = hall.row(first.tournament), hall.row(second.tournament)
    assert (before.status, after.status) == (TournamentStatus.CANCELLED, TournamentStatus.PENDING)
    assert before.status_reason == "terminated by the schedule's next firing"
    assert before.seed != after.seed and after.workflow_started_at is not None


async def test_a_schedule_that_fails_shows_why(rest: httpx.AsyncClient) -> None:
    body = {
        "project": "failing",
        "name": "hopeless",
        "cron": "0 3 * * *",
        "time_zone": "Europe/Berlin",
        "tournament": {"game": TIC_TAC_TOE, "entrants": ["alias:champion", "bot:random"]},
    }
    made = await rest.post(f"{API}/schedules", json=body)
    assert made.status_code == 201, made.text
    url = f"{API}/schedules/{made.json()['id']}"
    assert (await rest.post(f"{API}/schedules", json=body)).status_code == 409, "the name is taken"
    assert (await rest.post(f"{url}/trigger")).status_code == 202

    async def failed() -> bool:
        return "champion" in ((await rest.get(url)).json()["last_error"] or "")

    await until(failed)
    assert len((await rest.get(url)).json()["next"]) == 5
    wrong = [{"every_seconds": 5}, {"cron": "0 3 * *"}, {"time_zone": "Europe/Nowhere"}]
    answers = [
        (await rest.post(f"{API}/schedules", json=body | {"name": "x"} | change)).status_code for change in wrong
    ]
    assert answers == [422, 422, 409]


async def test_a_cancellation_whose_answer_was_lost_succeeds_when_it_is_repeated(
    rest: httpx.AsyncClient, hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall.before_game = lambda request: time.sleep(0.05)
    spec = {"game": TIC_TAC_TOE, "entrants": graded(4), "games": 200}
    tournament = (await rest.post(f"{API}/tournaments", json={"project": "lost", "spec": spec})).json()["id"]
    await until(lambda: hall.row(tournament).status is TournamentStatus.RUNNING)
    url, key, why = f"{API}/tournaments/{tournament}/cancel", {"Idempotency-Key": new_id()}, {"reason": "too long"}
    with dying_before_the_answer(monkeypatch):
        assert (await rest.post(url, headers=key, json=why)).status_code == 500
    assert (await ended(rest, tournament))["status"] == "cancelled"
    again = await rest.post(url, headers=key, json=why)
    assert (again.status_code, again.json()["status"]) == (202, "cancelled"), again.text
    other = await rest.post(url, headers={"Idempotency-Key": new_id()}, json=why)
    assert (other.status_code, other.json()["tournament_status"]) == (409, "cancelled")


@pytest.mark.parametrize("overlap", ["allow_all", "skip"])
async def test_a_schedule_is_fired_once_under_one_key(
    rest: httpx.AsyncClient, hall: Hall, temporal: Client, monkeypatch: pytest.MonkeyPatch, overlap: str
) -> None:
    body = {
        "project": "keyed",
        "name": f"by-hand-{overlap.replace('_', '-')}",
        "cron": "0 3 * * *",
        "overlap": overlap,
        "tournament": {"game": TIC_TAC_TOE, "entrants": graded(2), "games": 2},
    }
    schedule = (await rest.post(f"{API}/schedules", json=body)).json()["id"]
    url, mine = f"{API}/schedules/{schedule}/trigger", Tournament.schedule_id == schedule
    over = Tournament.status == TournamentStatus.COMPLETED

    async def fire(key: dict[str, str]) -> int:
        return (await rest.post(url, headers=key)).status_code

    lost, other = ({"Idempotency-Key": new_id()} for _ in range(2))
    with dying_before_the_answer(monkeypatch):
        assert await asyncio.gather(fire(lost), fire(lost)) == [500, 500], "two at once, and both answers lost"
    await until(lambda: hall.count(Tournament, mine, over) == 1)
    await until(lambda: _rests(temporal, schedule))
    await asyncio.sleep(1.1)  # a moment is a second
    assert await fire(lost) == 202
    await asyncio.sleep(0.5)
    assert hall.count(Tournament, mine) == 1
    assert await fire(other) == 202
    await until(lambda: hall.count(Tournament, mine, over) == 2)
    assert await _fired(temporal, schedule) == 2


async def _fired(temporal: Client, schedule: str) -> int:
    return (await temporal.get_schedule_handle(schedule_id(schedule)).describe()).info.num_actions


async def test_the_command_line_holds_reports_and_schedules(
    rest: httpx.AsyncClient, served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANISTA_URL", served.base)
    monkeypatch.setenv("LANISTA_TOKEN", served.tokens[Scope.OPERATOR])

    async def lanista(*words: str) -> Any:
        result = await asyncio.to_thread(CliRunner().invoke, app, list(words))
        assert result.exit_code == 0, result.output
        return result.stdout

    file = tmp_path / "field.yaml"
    file.write_text(
        "project: typed\ngame: {id: tic_tac_toe}\nformat: swiss\nentrants: [bot:random, bot:minimax]\ngames: 4\n"
    )
    held = json.loads(await lanista("tournament", "run", str(file), "--seed", "1", "--json"))
    assert (held["status"], held["project"], held["format"], held["seed"]) == ("completed", "typed", "swiss", 1)
    assert "minimax" in await lanista("tournament", "show", held["id"])
    assert held["id"] in await lanista("tournament", "list", "--project", "typed", "--json")
    report = tmp_path / "report.html"
    await lanista("tournament", "report", held["id"], "--format", "html", "-o", str(report))
    assert "<table>" in report.read_text()
    made = json.loads(await lanista("schedule", "create", "weekly", str(file), "--cron", "0 4 * * 1", "--json"))
    await lanista("schedule", "pause", made["id"], "--note", "not now")
    assert "not now" in await lanista("schedule", "list", "--project", "typed", "--json")
    await lanista("schedule", "trigger", made["id"])
    await lanista("schedule", "resume", made["id"])
    shown = json.loads(await lanista("schedule", "show", made["id"], "--json"))
    assert not shown["paused"] and shown["next"]
    await lanista("schedule", "delete", made["id"])
    assert (await rest.get(f"{API}/schedules/{made['id']}")).status_code == 404
    file.write_text("format: swis\nentrants: [newest]\n")
    wrong = await asyncio.to_thread(CliRunner().invoke, app, ["tournament", "run", str(file)])
    assert wrong.exit_code == 1 and "field.yaml:1:9" in wrong.output and "field.yaml:2:12" in wrong.output


async def test_a_trial_file_can_ask_for_a_nightly_tournament(hall: Hall, temporal: Client) -> None:
    spec = check_spec({"game": TIC_TAC_TOE, "evaluation": {"schedule": "0 3 * * *"}})
    with hall.sessions.begin() as session:
        trial = create_trial(session, project="nights", name="owl", spec=spec).id
        own = check_tournament({"trial": "owl", "entrants": graded(2)})
        create_schedule(session, "nights", "of-my-own", Timing(cron="0 5 * * *"), own)
    keeper = reconciler(hall, temporal)
    await keeper.reconcile()
    (schedule,) = hall.rows(Schedule, Schedule.trial_id == trial, Schedule.name == "nightly-owl")
    assert schedule.cron == "0 3 * * *" and schedule.workflow_started_at
    await keeper.reconcile()
    assert hall.count(Schedule, Schedule.trial_id == trial) == 2
    with hall.sessions.begin() as session:
        change_status(session, trial, TrialStatus.COMPLETED, "done")
    await keeper.reconcile()
    described = await temporal.get_schedule_handle(schedule_id(schedule.id)).describe()
    assert described.schedule.state.paused and described.schedule.state.note == "its trial has ended"


async def test_what_temporal_missed_is_made_up_for(hall: Hall, temporal: Client) -> None:
    """A tournament whose row was committed by a process that then died."""
    tournament = hall.make(entrants=graded(2), games=2)
    with hall.sessions.begin() as session:
        session.execute(update(Trial).values(workflow_started_at=Trial.created_at))
    keeper = reconciler(hall, temporal)
    assert await keeper.reconcile() >= 1
    async with hall.workers(temporal):
        await until(lambda: hall.row(tournament).status is TournamentStatus.COMPLETED)
    assert await keeper.reconcile() == 0
