"""Every format, played to its end through a real Temporal server."""

from __future__ import annotations

import time
from typing import Any

import pytest
from temporalio.client import Client

from api.schemas.enums import PairingStatus, RatingMethod, TournamentStatus
from api.store.tables import Match, Pairing, Rating, RatingCovariance, RatingFit
from api.web.reports.tournament import compute_standings
from orchestrator.contracts.play import PlayRequest
from orchestrator.contracts.tournaments import tournament_workflow_id
from orchestrator.workflows import tournament as workflow
from tests.integration.tournaments.hall import PATIENCE, Hall, graded

pytestmark = pytest.mark.asyncio(loop_scope="module")

FORMATS: list[tuple[dict[str, Any], int]] = [
    ({"format": "round_robin", "cycles": 2}, 2 * 10),
    ({"format": "gauntlet", "challengers": ["bot:minimax"]}, 5),
    ({"format": "swiss", "rounds": 3}, 3 * 2),
    ({"format": "knockout", "batches": 1}, 4),
    ({"format": "adaptive", "rounds": 3, "pairings_per_round": 2}, 6),
]


@pytest.mark.parametrize(("options", "pairings"), FORMATS, ids=lambda each: str(each))
async def test_a_tournament_is_played_recorded_and_rated(
    hall: Hall, temporal: Client, options: dict[str, Any], pairings: int
) -> None:
    tournament = hall.make(entrants=graded(5), games=4, **options)
    assert await hall.hold(temporal, tournament) == ["completed"]
    row = hall.row(tournament)
    assert row.status is TournamentStatus.COMPLETED and row.started_at and row.finished_at
    mine = Pairing.tournament_id == tournament
    assert hall.count(Pairing, mine, Pairing.second.is_not(None)) == pairings
    assert hall.count(Pairing, mine, Pairing.status == PairingStatus.PLAYED) == hall.count(Pairing, mine)
    assert hall.count(Match, Match.tournament_id == tournament) == 4 * pairings
    fits = {fit.method: fit for fit in hall.rows(RatingFit, RatingFit.tournament_id == tournament)}
    assert set(fits) == set(RatingMethod)
    strengths = fits[RatingMethod.BRADLEY_TERRY]
    assert strengths.games == 4 * pairings and strengths.settings["anchor"] == "bot:random"
    assert hall.count(RatingCovariance, RatingCovariance.fit_id == strengths.id) == 1
    anchor = hall.rows(Rating, Rating.fit_id == strengths.id, Rating.version_id == strengths.anchor_version_id)
    assert [each.value for each in anchor] == [0.0]
    for fit in fits.values():
        assert hall.count(Rating, Rating.fit_id == fit.id) == len(hall.labels(tournament))
    if options["format"] == "knockout":
        with hall.sessions() as session:
            ranks = [line.rank for line in compute_standings(session, tournament).lines]
        assert ranks == [1, 2, 3, 3, 5], "by how far each entrant came"


async def test_an_odd_field_gets_byes_that_count_as_points_and_are_no_games(hall: Hall, temporal: Client) -> None:
    tournament = hall.make(entrants=graded(5), games=2, format="swiss", rounds=2)
    assert await hall.hold(temporal, tournament) == ["completed"]
    byes = hall.rows(Pairing, Pairing.tournament_id == tournament, Pairing.second.is_(None))
    assert len(byes) == 2 and len({bye.first for bye in byes}) == 2, "nobody gets a second bye"
    assert all(bye.games == bye.wins == 0 and bye.status is PairingStatus.PLAYED for bye in byes)


async def test_a_round_robin_goes_on_until_intervals_are_narrow(hall: Hall, temporal: Client) -> None:
    few = hall.make(entrants=graded(3), games=20, target_width=600, cycles=50)
    many = hall.make(entrants=graded(3), games=20, target_width=150, cycles=50)
    capped = hall.make(entrants=graded(3), games=20, target_width=0.001, cycles=2)
    assert await hall.hold(temporal, few, many, capped) == ["completed"] * 3
    counts = [len(hall.pairings(tournament)) for tournament in (few, many, capped)]
    assert counts[0] < counts[1] < 50 * 3
    assert counts[2] == 2 * 3, "the most cycles are an end too"
    assert all(count % 3 == 0 for count in counts), "cycles are whole"


async def test_the_fan_out_is_bounded_and_so_is_the_history(
    hall: Hall, temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workflow, "PAIRINGS_PER_RUN", 10)
    tournament = hall.make(entrants=graded(3), games=2, cycles=7, at_once=3)
    hall.most_under_way = 0

    def in_company(request: PlayRequest) -> None:
        deadline = time.monotonic() + PATIENCE
        while hall.most_under_way < 2 and time.monotonic() < deadline:
            time.sleep(0.01)

    monkeypatch.setattr(hall, "before_game", in_company)
    assert await hall.hold(temporal, tournament) == ["completed"]
    assert 2 <= hall.most_under_way <= 3
    assert hall.count(Match, Match.tournament_id == tournament) == 7 * 3 * 2
    newest = await temporal.get_workflow_handle(tournament_workflow_id(tournament)).describe()
    assert newest.history_length < 100, "21 pairings did not stay in one history"
