"""Games of a person against a version."""

from __future__ import annotations

import secrets

from fastapi import APIRouter, Response
from starlette.concurrency import run_in_threadpool

from api.schemas.games import Game, NewGame, PersonMove
from api.store.core.engine import Session
from api.store.core.ids import new_id
from api.store.matches.move_requests import first_request, next_request
from api.store.matches.people_games import (
    answer_of,
    begin_people_game,
    continue_people_game,
    find_people_game,
    game_record,
)
from api.web.auth.scopes import Viewer
from api.web.changes import Change, Reply
from api.web.problems import ProblemError
from api.web.responses.paging import EntityId
from api.web.responses.serialization import SerializingRoute, record_response
from api.web.services import Api
from api.web.temporal.ask_worker import ask
from orchestrator.contracts.interactive import MoveAnswer, MoveRequest, choose_move

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/play", tags=["play"])


@router.post("", summary="Start a game against a version", status_code=201, response_model=Game)
async def begin(new: NewGame, principal: Viewer, change: Change) -> Response:
    """The opponent moves first if it has seat 0. The result is not counted anywhere."""
    services = change.services
    seed = secrets.randbits(53) if new.seed is None else new.seed

    def prepare() -> MoveRequest:
        with services.reads() as session:
            return first_request(
                session, str(new.version_id), seat=new.seat, seed=seed, sampled=new.sampled, search=new.search
            )

    async def first() -> tuple[MoveRequest, MoveAnswer]:
        request = await run_in_threadpool(prepare)
        return request, await ask(services.temporal, choose_move, request)

    def keep(session: Session, begun: tuple[MoveRequest, MoveAnswer]) -> Reply:
        game = begin_people_game(session, new_id(), principal.token_id, *begun)
        return Reply(
            body=Game.model_validate(game_record(game)), status=201, headers={"Location": f"/api/v1/play/{game.id}"}
        )

    return await change.commit_after(first, keep)


@router.get("/{game_id}", summary="Get a game", response_model=Game)
def look(game_id: EntityId, services: Api, principal: Viewer) -> Response:
    """The position and all moves. A game is kept for a day after its last move."""
    with services.reads() as session:
        record = game_record(find_people_game(session, str(game_id), principal.token_id))
    return record_response(record, Game)


@router.post("/{game_id}/moves", summary="Make a move", response_model=Game)
async def move(game_id: EntityId, move: PersonMove, principal: Viewer, change: Change) -> Response:
    """Make the person's move and get the opponent's reply. 409 for an illegal action."""
    services = change.services

    def prepare() -> tuple[MoveRequest, int]:
        with services.reads() as session:
            game = find_people_game(session, str(game_id), principal.token_id)
            if answer_of(game).position.done:
                raise ProblemError(409, "the game is over; start another with POST /api/v1/play")
            return next_request(session, game, move.action, move.numbers), game.turn

    async def moved() -> tuple[MoveAnswer, int]:
        request, turn = await run_in_threadpool(prepare)
        return await ask(services.temporal, choose_move, request), turn

    def keep(session: Session, found: tuple[MoveAnswer, int]) -> Reply:
        answer, turn = found
        game = continue_people_game(session, str(game_id), principal.token_id, turn=turn, answer=answer)
        return Reply(body=Game.model_validate(game_record(game)))

    return await change.commit_after(moved, keep)
