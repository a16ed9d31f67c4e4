"""Damaged checkpoints and larger tables: an entrant is withdrawn, the others play on; any number of seats counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.exceptions import ApplicationError

from api.schemas.enums import PairingStatus, RatingMethod
from api.store.core.ids import new_id
from api.store.tables import Event, Match, ModelVersion, Pairing, Player, RatingFit, TournamentEntrant
from api.store.trials.create import create_trial
from api.store.verify import audit
from api.web.reports.formats import as_markdown
from api.web.reports.tournament import tournament_report
from orchestrator.catalog import Component
from orchestrator.contracts.play import PlayRequest
from orchestrator.contracts.tournaments import DamagedPairing, FailedPairing, TournamentRequest
from orchestrator.contracts.trials import EnterPlayers
from orchestrator.spec.reading.checking import check_spec
from tests.integration.tournaments.hall import Hall
from workers.checkpoints import Checkpoint, save
from workers.games.names import make_game
from workers.models.contract import build_model

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODEL = Component(id="mlp", options={"hidden": [8]})
GAME = Component(id="tic_tac_toe")
MAINS = ("one", "two", "three")


@pytest.fixture(autouse=True)
def untroubled(hall: Hall) -> None:
    hall.before_game = lambda request: None


def league(hall: Hall) -> tuple[str, str, dict[str, ModelVersion]]:
    """A project and a trial of three learners, each with weights of its own."""
    project, name = new_id(), new_id()
    players = [{"name": main, "role": "main"} for main in MAINS]
    spec = check_spec(
        {"game": {"id": "tic_tac_toe"}, "model": {"id": "mlp", "hidden": [8]}, "league": {"players": players}}
    )
    with hall.sessions.begin() as session:
        trial = create_trial(session, project=project, name=name, spec=spec).id
    hall.store["enter_players"](EnterPlayers(trial=trial, initial=weights(hall, 1)))
    made = {}
    with hall.sessions.begin() as session:
        for seed, main in enumerate(MAINS):
            (player,) = hall.rows(Player, Player.trial_id == trial, Player.name == main)
            ref = weights(hall, 10 + seed)
            made[main] = ModelVersion(
                id=new_id(), trial_id=trial, player_id=player.id, number=1, origin="imported", steps=0,
                uri=ref.uri, sha256=ref.sha256, size=ref.size, commit=0,
            )  # fmt: skip
            session.add(made[main])
    return project, name, {main: hall.rows(ModelVersion, ModelVersion.id == each.id)[0] for main, each in made.items()}


def weights(hall: Hall, seed: int) -> Any:
    model = build_model(MODEL, make_game("tic_tac_toe", 1).spec, seed)
    return save(hall.artifacts, Checkpoint(model=MODEL, game=GAME, weights=dict(model.state_dict())))


def spoil(version: ModelVersion) -> None:
    Path(str(version.uri).removeprefix("file://")).write_bytes(b"half of it")


def damaged(request: PlayRequest) -> None:
    """As the play worker tells it."""
    for contender in request.contenders:
        if contender.checkpoint and Path(contender.checkpoint.uri.removeprefix("file://")).stat().st_size < 20:
            raise ApplicationError(f"artifact {contender.checkpoint.uri} is damaged", type="damaged_checkpoint")


@pytest.mark.parametrize("form", ["round_robin", "swiss", "knockout", "adaptive"])
async def test_a_damaged_entrant_is_withdrawn_and_the_others_play_on(hall: Hall, temporal: Client, form: str) -> None:
    project, trial, versions = league(hall)
    more = {"rounds": 3} if form in ("swiss", "adaptive") else {}
    tournament = hall.make(
        project, trial=trial, format=form, entrants=["latest", "bot:random"], games=2, at_once=1, seed=3, **more
    )
    spoil(versions["two"])
    hall.before_game = damaged
    assert await hall.hold(temporal, tournament) == ["completed"]
    withdrawn = hall.rows(TournamentEntrant, TournamentEntrant.tournament_id == tournament)
    assert {each.label for each in withdrawn if each.withdrawn} == {"two v1"}
    mine = Pairing.tournament_id == tournament
    walkovers = hall.rows(Pairing, mine, Pairing.walkover.is_not(None))
    number = next(each.number for each in withdrawn if each.withdrawn)
    assert walkovers and all(number in (row.first, row.second) and row.walkover != number for row in walkovers)
    assert hall.count(Pairing, mine, Pairing.status == PairingStatus.PLANNED) == 0
    assert hall.count(Pairing, mine, Pairing.status == PairingStatus.PLAYED) > 0
    assert hall.count(Match, Match.tournament_id == tournament, Match.version_id == versions["two"].id) == 0
    (event,) = [
        each for each in hall.rows(Event, Event.type == "tournament.withdrawn")
        if each.payload["tournament_id"] == tournament
    ]  # fmt: skip
    assert event.payload["entrant"] == "two v1" and "is damaged" in event.payload["reason"]
    with hall.sessions() as session:
        report = tournament_report(session, tournament)
    marks = {line.label: line.withdrawn for line in report.standings}
    assert [label for label, why in marks.items() if why] == ["two v1"] and "(withdrawn)" in as_markdown(report)


async def test_damage_that_the_store_does_not_see_is_refused(hall: Hall) -> None:
    project, trial, _ = league(hall)
    tournament = hall.make(project, trial=trial, format="round_robin", entrants=["latest"], games=2)
    pairing = hall.store["plan_pairings"](TournamentRequest(tournament=tournament)).pairings[0]
    with pytest.raises(ApplicationError, match="both of its files are intact: who knows"):
        hall.store["withdraw_damaged"](
            DamagedPairing(tournament=tournament, round=pairing.round, pair=pairing.pair, problem="who knows")
        )
    # one that can be read and not understood is named by its hash
    sha256 = pairing.request.contenders[0].checkpoint.sha256
    named = DamagedPairing(
        tournament=tournament, round=pairing.round, pair=pairing.pair, problem=f"{sha256} is no file"
    )
    hall.store["withdraw_damaged"](named)
    hall.store["withdraw_damaged"](named)
    assert hall.count(TournamentEntrant, TournamentEntrant.withdrawn.is_not(None)) >= 1
    mine = hall.rows(Event, Event.type == "tournament.withdrawn")
    assert [each.payload["walkovers"] for each in mine if each.payload["tournament_id"] == tournament] == [2]


@pytest.mark.parametrize("of_a_trial", [True, False])
async def test_a_setback_of_a_pairing_is_told_once(hall: Hall, of_a_trial: bool) -> None:
    if of_a_trial:
        project, trial, _ = league(hall)
        tournament = hall.make(project, trial=trial, format="round_robin", entrants=["latest"], games=2)
    else:
        tournament = hall.make(format="round_robin", entrants=["bot:random", "bot:first-legal"], games=2)
    setback = FailedPairing(
        tournament=tournament,
        key="run:0:0:1",
        round=0,
        pair=0,
        failure="stalled",
        problem="p",
        tries=1,
        delay_seconds=0,
    )
    hall.store["note_pairing_setback"](setback)
    hall.store["note_pairing_setback"](setback)
    told = hall.rows(Event, Event.type == "pairing.retried")
    (event,) = [each.payload for each in told if each.payload["tournament_id"] == tournament]
    assert (event["first"], event["second"]) == (None, None), "no pairing is planned yet"


async def test_games_of_three_seats_are_played_from_every_seat(hall: Hall, temporal: Client) -> None:
    game = {"id": "openspiel", "game": "kuhn_poker(players=3)"}
    tournament = hall.make(game=game, format="swiss", entrants=["bot:random", "bot:first-legal"], games=4, rounds=2)
    assert await hall.hold(temporal, tournament) == ["completed"]
    rows = hall.rows(Pairing, Pairing.tournament_id == tournament)
    assert [(row.status, row.games, row.wins + row.draws + row.losses) for row in rows] == [("played", 6, 6)] * 2
    seats = [each.seat for each in hall.rows(Match, Match.tournament_id == tournament)]
    assert sorted(seats) == sorted([0, 1, 2] * 4), "two seeds a pairing, each from all three seats"
    fits = {fit.method: fit.games for fit in hall.rows(RatingFit, RatingFit.tournament_id == tournament)}
    assert fits[RatingMethod.OPENSKILL] == 12, "any number of seats"
    assert RatingMethod.ELO_ONLINE not in fits, "Elo is of one against one"


async def test_after_all_of_it_the_audit_agrees(hall: Hall) -> None:
    report = audit(hall.engine, hall.artifacts)
    assert [each for each in report.findings if each.wrong not in ("damaged",)] == []
