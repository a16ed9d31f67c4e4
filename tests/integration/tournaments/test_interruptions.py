"""Tournaments that are broken off, hurried, doubled and cancelled: counts stay exact, pairings the same."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.exceptions import ApplicationError

from api.schemas.enums import PairingStatus, RatingMethod, TournamentStatus
from api.store.tables import Match, Pairing, RatingFit
from api.store.verify import audit
from orchestrator.contracts.play import PlayRequest
from orchestrator.contracts.tournaments import PairingReport, TournamentEnd, TournamentRequest
from orchestrator.workflows import tournament as workflow
from tests.integration.tournaments.hall import PATIENCE, Hall, graded, lost_worker

pytestmark = pytest.mark.asyncio(loop_scope="module")

A_MOMENT = timedelta(seconds=2)
FIELDS: list[dict[str, Any]] = [
    {"format": "swiss", "entrants": graded(7), "games": 4, "rounds": 3},
    {"format": "round_robin", "entrants": graded(5), "games": 4},
]


@pytest.fixture(autouse=True)
def untroubled(hall: Hall) -> None:
    hall.before_game = lambda request: None


@pytest.fixture
def soon_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was handed to a worker that is gone is handed out again after a moment; usually it takes twenty."""
    for name in ("plan_pairings", "record_pairing", "note_pairing_setback"):
        monkeypatch.setattr(workflow, name, replace(getattr(workflow, name), start_to_close=A_MOMENT))
    monkeypatch.setattr(workflow, "play_games", replace(workflow.play_games, heartbeat=A_MOMENT))


async def eventually(check: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if check():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("did not happen in time")


@pytest.mark.parametrize("spec", FIELDS, ids=lambda spec: spec["format"])
async def test_an_interrupted_tournament_is_the_unbroken_one(
    hall: Hall, temporal: Client, spec: dict[str, Any], soon_missed: None
) -> None:
    unbroken, broken = hall.make(**spec), hall.make(**spec)
    assert await hall.hold(temporal, unbroken) == ["completed"]
    chance = random.Random(5)

    def trouble(request: PlayRequest) -> None:
        if chance.random() < 0.25:
            raise lost_worker()

    hall.before_game = trouble
    handle = await hall.start(temporal, broken, task_timeout=A_MOMENT)
    wanted = len(hall.pairings(unbroken))
    for share in (0.2, 0.4, 0.6):  # every worker stops, mid-round, and others take over
        async with hall.workers(temporal):
            await eventually(lambda share=share: played(hall, broken) >= share * wanted)
    async with hall.workers(temporal):
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "completed"
    assert hall.pairings(broken) == hall.pairings(unbroken)
    assert hall.games(broken) == hall.games(unbroken), "the same games to the last move, none twice, none missing"
    assert hall.count(RatingFit, RatingFit.tournament_id == broken) == len(RatingMethod)


async def test_a_result_delivered_many_times_at_once_is_recorded_once(hall: Hall) -> None:
    tournament = hall.make(entrants=graded(2), games=4)
    plan = hall.store["plan_pairings"](TournamentRequest(tournament=tournament))
    assert plan == hall.store["plan_pairings"](TournamentRequest(tournament=tournament)), "planned once"
    (pairing,) = plan.pairings
    report = PairingReport(
        tournament=tournament, round=pairing.round, pair=pairing.pair, outcome=hall.play(pairing.request)
    )
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(hall.store["record_pairing"], [report] * 8))
    assert hall.count(Match, Match.tournament_id == tournament) == 4


async def test_a_batch_that_is_not_whole_is_refused(hall: Hall) -> None:
    tournament = hall.make(entrants=graded(2), games=4)
    (pairing,) = hall.store["plan_pairings"](TournamentRequest(tournament=tournament)).pairings
    outcome = hall.play(pairing.request)
    outcome.games.pop()
    with pytest.raises(Exception, match="games"):
        hall.store["record_pairing"](PairingReport(tournament=tournament, round=0, pair=0, outcome=outcome))
    assert hall.count(Match, Match.tournament_id == tournament) == 0
    assert played(hall, tournament) == 0


async def test_cancel_keeps_what_was_played_and_says_so(hall: Hall, temporal: Client) -> None:
    tournament = hall.make(entrants=graded(5), games=2, at_once=1)
    released = threading.Event()

    def wait(request: PlayRequest) -> None:
        if sum(tournament in occasion for occasion in list(hall.played)) >= 3:
            released.wait(PATIENCE)

    hall.before_game = wait
    async with hall.workers(temporal):
        handle = await hall.start(temporal, tournament)
        await eventually(lambda: played(hall, tournament) == 3 and hall.under_way == 1)
        await handle.signal("cancel", "seen enough")
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "cancelled"
        released.set()
        await eventually(lambda: hall.under_way == 0)  # see Hall.workers
    row = hall.row(tournament)
    assert (row.status, row.status_reason) == (TournamentStatus.CANCELLED, "seen enough")
    assert hall.count(Match, Match.tournament_id == tournament) == 6, "three pairings of two games, and no half one"
    mine = Pairing.tournament_id == tournament
    assert hall.count(Pairing, mine, Pairing.status == PairingStatus.CANCELLED) == 7
    assert hall.count(RatingFit, RatingFit.tournament_id == tournament) == len(RatingMethod), "what was played is rated"


async def test_a_result_that_comes_after_the_end_is_left_out(hall: Hall) -> None:
    tournament = hall.make(entrants=graded(2), games=2)
    (pairing,) = hall.store["plan_pairings"](TournamentRequest(tournament=tournament)).pairings
    hall.store["end_tournament"](TournamentEnd(tournament=tournament, status="cancelled", reason="enough"))
    late = PairingReport(tournament=tournament, round=0, pair=0, outcome=hall.play(pairing.request))
    hall.store["record_pairing"](late)
    assert hall.count(Match, Match.tournament_id == tournament) == 0
    assert hall.store["plan_pairings"](TournamentRequest(tournament=tournament)).pairings == []


async def test_a_cancelled_workflow_marks_its_tournament(hall: Hall, temporal: Client) -> None:
    tournament = hall.make(entrants=graded(4), games=2, at_once=2)
    released = threading.Event()

    def wait(request: PlayRequest) -> None:
        released.wait(PATIENCE)

    hall.before_game = wait
    async with hall.workers(temporal):
        handle = await hall.start(temporal, tournament)
        await eventually(lambda: hall.under_way == 2)
        await handle.cancel()
        assert await asyncio.wait_for(handle.result(), PATIENCE) == "cancelled"
        released.set()
        await eventually(lambda: hall.under_way == 0)  # see Hall.workers
    assert hall.row(tournament).status_reason == "its workflow was cancelled"


async def test_games_that_can_never_be_played_fail_the_tournament_with_the_reason(hall: Hall, temporal: Client) -> None:
    def refuse(request: PlayRequest) -> None:
        raise ApplicationError("no such opening", type="bad_input")

    hall.before_game = refuse
    tournament = hall.make(entrants=graded(2), games=2)
    assert await hall.hold(temporal, tournament) == ["failed"]
    row = hall.row(tournament)
    assert (row.status, row.status_reason) == (TournamentStatus.FAILED, "bad_input: no such opening")
    assert hall.count(Pairing, Pairing.tournament_id == tournament, Pairing.status == PairingStatus.CANCELLED) == 1


async def test_after_all_of_it_the_audit_agrees(hall: Hall) -> None:
    report = audit(hall.engine, hall.artifacts)
    assert report.counts["matches"] > 0 and report.counts["rating_fits"] > 0
    assert report.agrees, report.findings


def played(hall: Hall, tournament: str) -> int:
    return hall.count(Pairing, Pairing.tournament_id == tournament, Pairing.status == PairingStatus.PLAYED)
