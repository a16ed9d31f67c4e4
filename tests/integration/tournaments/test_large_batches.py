"""Games of any number and length are recorded, though Temporal takes no message above 2 MiB."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest
from temporalio.client import Client

from api.store.tables import Event, Match
from orchestrator.contracts.play import PlayedGame, PlayOutcome, PlayRequest
from orchestrator.contracts.tournaments import tournament_workflow_id
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.storage.played_games import GAMES_KIND, pack_games
from tests.integration.tournaments import hall as hall_module
from tests.integration.tournaments.hall import Hall, lost_worker

pytestmark = pytest.mark.asyncio(loop_scope="module")

LONG = {"id": "tests.unit.training.samples:Countdown", "length": 2000}
"""Three seats: a pairing has half as many games again as are asked for."""
BOTS = ["bot:random", "bot:first-legal"]


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> list[PlayOutcome]:
    """What the workers sent."""
    seen: list[PlayOutcome] = []

    def spied(games: Sequence[PlayedGame], artifacts: ArtifactStore) -> PlayOutcome:
        seen.append(pack_games(games, artifacts))
        return seen[-1]

    monkeypatch.setattr(hall_module, "pack_games", spied)
    return seen


async def test_a_pairing_of_many_long_games_is_recorded_whole(
    hall: Hall, temporal: Client, outcomes: list[PlayOutcome]
) -> None:
    tournament = hall.make(game=LONG, entrants=BOTS, games=500, opening_plies=1)
    assert await hall.hold(temporal, tournament) == ["completed"]
    games = hall.games(tournament)
    assert len(games) == 750 and all(len(moves) == 2000 for *_, moves in games)
    assert sum(len(json.dumps(moves)) for *_, moves in games) > 2 * 1024 * 1024
    (outcome,) = outcomes
    assert outcome.games == [] and len(json.dumps(asdict(outcome))) < 1000
    history = await temporal.get_workflow_handle(tournament_workflow_id(tournament)).fetch_history()
    assert sum(event.ByteSize() for event in history.events) < 100_000


async def test_games_that_are_lost_before_they_are_recorded_are_played_again(
    hall: Hall, temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[Path] = []

    def losing(games: Sequence[PlayedGame], artifacts: ArtifactStore) -> PlayOutcome:
        outcome = pack_games(games, artifacts)
        assert outcome.stored is not None
        if not lost:
            lost.append(Path(outcome.stored.uri.removeprefix("file://")))
            lost[0].unlink()
        return outcome

    monkeypatch.setattr(hall_module, "pack_games", losing)
    tournament = hall.make(game=LONG, entrants=BOTS, games=20, opening_plies=1)
    assert await hall.hold(temporal, tournament) == ["completed"]
    assert hall.count(Match, Match.tournament_id == tournament) == 30
    assert lost[0].exists() and lost[0].parts[-3] == GAMES_KIND, "the same games have the same name"


async def test_games_that_are_lost_after_another_failure_are_told_of_too(
    hall: Hall, temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are the first try of their kind, in the same run."""
    troubles = ["the process", "the games"]

    def dying(request: PlayRequest) -> None:
        if troubles[:1] == ["the process"]:
            troubles.pop(0)
            raise lost_worker()

    def losing(games: Sequence[PlayedGame], artifacts: ArtifactStore) -> PlayOutcome:
        outcome = pack_games(games, artifacts)
        assert outcome.stored is not None
        if troubles:
            troubles.pop(0)
            Path(outcome.stored.uri.removeprefix("file://")).unlink()
        return outcome

    monkeypatch.setattr(hall, "before_game", dying)
    monkeypatch.setattr(hall_module, "pack_games", losing)
    tournament = hall.make(game=LONG, entrants=BOTS, games=20, opening_plies=1, seed=9)
    assert await hall.hold(temporal, tournament) == ["completed"]
    told = hall.rows(Event, Event.type == "pairing.retried", Event.payload["tournament_id"].astext == tournament)
    assert sorted(each.payload["failure"] for each in told) == ["crew_lost", "games_lost"]


async def test_a_store_that_is_not_shared_ends_the_tournament_with_the_reason(
    hall: Hall, temporal: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        hall_module, "pack_games", lambda games, artifacts: pack_games(games, ArtifactStore(str(tmp_path)))
    )
    monkeypatch.setattr("orchestrator.workflows.tournament.MAX_UNREADABLE_RUNS", 1)
    tournament = hall.make(game=LONG, entrants=BOTS, games=20, opening_plies=1, seed=8)
    assert await hall.hold(temporal, tournament) == ["failed"]
    assert "games_lost: the games must be played again" in (hall.row(tournament).status_reason or "")
    assert hall.count(Match, Match.tournament_id == tournament) == 0


async def test_a_few_games_travel_within_the_message(hall: Hall, temporal: Client, outcomes: list[PlayOutcome]) -> None:
    tournament = hall.make(entrants=["bot:random", "bot:minimax"], games=20)
    assert await hall.hold(temporal, tournament) == ["completed"]
    (outcome,) = outcomes
    assert outcome.stored is None and len(outcome.games) == 20
