"""Rating games are never one game counted again and again, unless somebody is told."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select
from temporalio.client import Client

from api.store.core.ids import new_id
from api.store.tables import Event, Match
from api.store.tournaments.schedules import Timing, create_schedule
from api.store.trials.create import create_trial
from orchestrator.spec import InvalidTrial
from orchestrator.spec.reading.checking import check_spec
from orchestrator.spec.tournament import check_tournament
from tests.integration.tournaments.hall import Hall

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEX = {"id": "openspiel", "game": "hex(board_size=5)"}
DETERMINISTIC = ["bot:first-legal", "bot:minimax"]


def different(hall: Hall, tournament: str) -> tuple[int, int, set[Any]]:
    """Different games, all games, and what was recorded of their openings."""
    openings = hall.rows(Match.opening, Match.tournament_id == tournament)
    games = hall.games(tournament)
    moves = {(seat, played) for _, _, seat, _, _, played in games}
    return len(moves), len(games), {(opening or {}).get("plies") for opening in openings}


def told(hall: Hall, tournament: str) -> list[int]:
    """What the followers heard of each pairing."""
    query = select(Event.payload).where(Event.type == "pairing.played")
    with hall.sessions() as session:
        payloads = session.scalars(query.where(Event.payload["tournament_id"].astext == tournament)).all()
    return [payload["different_games"] for payload in payloads]


@pytest.mark.parametrize("sampled", [True, False])
async def test_deterministic_bots_of_a_board_game_start_from_openings(
    hall: Hall, temporal: Client, sampled: bool
) -> None:
    tournament = hall.make(game=HEX, entrants=["bot:first-legal", "bot:random"], games=20, sampled=sampled)
    assert await hall.hold(temporal, tournament) == ["completed"]
    assert different(hall, tournament) == (20, 20, {2})
    assert told(hall, tournament) == [20]


async def test_best_moves_without_openings_end_a_tournament_with_the_reason(hall: Hall, temporal: Client) -> None:
    tournament = hall.make(game=HEX, entrants=["bot:first-legal", "bot:random"], sampled=False, opening_plies=0)
    assert await hall.hold(temporal, tournament) == ["failed"]
    assert "leave opening_plies out" in (hall.row(tournament).status_reason or "")
    assert hall.count(Match, Match.tournament_id == tournament) == 0


async def test_known_games_are_refused_before_anything_is_played(hall: Hall) -> None:
    settings: dict[str, Any] = {"entrants": DETERMINISTIC, "sampled": False, "opening_plies": 0}
    with pytest.raises(InvalidTrial, match="opening_plies = 0: must be above 0"):
        hall.make(**settings)
    with hall.sessions.begin() as session:
        project = new_id()
        create_trial(session, project=project, name="league", spec=check_spec({"game": {"id": "connect_four"}}))
    with pytest.raises(InvalidTrial, match="openings that suit the game \\(4 plies\\)"):
        hall.make(project=project, trial="league", **settings)
    spec = check_tournament({"game": {"id": "tic_tac_toe"}, **settings})
    with pytest.raises(InvalidTrial, match="above 0"), hall.sessions.begin() as session:
        create_schedule(session, new_id(), "nightly", Timing(cron="0 3 * * *"), spec)
    assert hall.make(**settings | {"sampled": True}) and hall.make(**settings | {"opening_plies": 2})


async def test_games_that_cannot_but_repeat_are_said_to(hall: Hall, temporal: Client) -> None:
    game = {"id": "rock_paper_scissors"}
    tournament = hall.make(game=game, entrants=["bot:first-legal", "bot:always-1"], games=20)
    assert await hall.hold(temporal, tournament) == ["completed"]
    assert told(hall, tournament) == [2]
