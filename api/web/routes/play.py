"""A person against a version, in the browser."""

from __future__ import annotations

import secrets
from uuid import UUID

from fastapi import APIRouter, Response
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from api.schemas.base import Body, Shape
from api.store.core.engine import Session
from api.store.core.ids import new_id
from api.store.matches.move_requests import first_request, next_request
from api.store.matches.people_games import answer_of, begin_people_game, continue_people_game, find_people_game
from api.store.tables import PeopleGame
from api.web.auth.scopes import Viewer
from api.web.changes import Answer, Change
from api.web.problems import Refusal
from api.web.responses.paging import EntityId
from api.web.responses.serialization import ReadyRoute
from api.web.routes.replays import Position
from api.web.services import Api
from api.web.temporal.ask_worker import ask
from orchestrator.contracts.interactive import MoveAnswer, MoveRequest, choose_move

router = APIRouter(route_class=ReadyRoute, prefix="/api/v1/play", tags=["play"])


class NewGame(Body):
    """A game to begin."""

    version_id: UUID = Field(description="the opponent: a version, a bot's too")
    seat: int = Field(default=0, strict=True, ge=0, le=63, description="where the person sits; seat 0 begins")
    seed: int | None = Field(default=None, strict=True, ge=0, le=2**53 - 1, description="of the game; null: any")
    sampled: bool = Field(
        default=True, strict=True, description="whether the opponent draws its moves or always takes its best"
    )


class Move(Body):
    """The person's move."""

    action: int = Field(strict=True, ge=0, le=2**31 - 1, description="number of a legal action", examples=[3])


class Game(Shape):
    """A game between a person and a version."""

    id: str = Field(description="its id")
    version_id: str = Field(description="the opponent")
    seat: int = Field(description="where the person sits", examples=[0])
    moves: list[int] = Field(description="every action so far, both sides", examples=[[3, 2]])
    answered: list[int] = Field(description="the opponent's actions since the person's last", examples=[[2]])
    position: Position = Field(description="what the person sees, and may do")


@router.post("", summary="Play against a version", status_code=201, response_model=Game)
async def begin(new: NewGame, principal: Viewer, change: Change) -> Response:
    """Begin a game; the opponent moves first if it has the first seat. No result of it counts anywhere."""
    services = change.services
    seed = secrets.randbits(53) if new.seed is None else new.seed

    def prepare() -> MoveRequest:
        with services.reads() as session:
            return first_request(session, str(new.version_id), seat=new.seat, seed=seed, sampled=new.sampled)

    async def first() -> tuple[MoveRequest, MoveAnswer]:
        request = await run_in_threadpool(prepare)
        return request, await ask(services.temporal, choose_move, request)

    def keep(session: Session, begun: tuple[MoveRequest, MoveAnswer]) -> Answer:
        game = begin_people_game(session, new_id(), principal.token_id, *begun)
        return Answer(body=_shown(game), status=201, headers={"Location": f"/api/v1/play/{game.id}"})

    return await change.commit_after(first, keep)


@router.get("/{game_id}", summary="A game under way")
def look(game_id: EntityId, services: Api, principal: Viewer) -> Game:
    """Where the game stands. It is kept for a day after its last move."""
    with services.reads() as session:
        return _shown(find_people_game(session, str(game_id), principal.token_id))


@router.post("/{game_id}/moves", summary="Make a move", response_model=Game)
async def move(game_id: EntityId, move: Move, principal: Viewer, change: Change) -> Response:
    """Make the person's move and get the opponent's answer. An action that is not legal is refused with 409."""
    services = change.services

    def prepare() -> tuple[MoveRequest, int]:
        with services.reads() as session:
            game = find_people_game(session, str(game_id), principal.token_id)
            if answer_of(game).position.done:
                raise Refusal(409, "the game is over; begin another with POST /api/v1/play")
            return next_request(session, game, move.action), game.turn

    async def moved() -> tuple[MoveAnswer, int]:
        request, turn = await run_in_threadpool(prepare)
        return await ask(services.temporal, choose_move, request), turn

    def keep(session: Session, found: tuple[MoveAnswer, int]) -> Answer:
        answer, turn = found
        game = continue_people_game(session, str(game_id), principal.token_id, turn=turn, answer=answer)
        return Answer(body=_shown(game))

    return await change.commit_after(moved, keep)


def _shown(game: PeopleGame) -> Game:
    answer = answer_of(game)
    return Game(
        id=game.id,
        version_id=game.version_id,
        seat=game.seat,
        moves=answer.moves,
        answered=answer.answered,
        position=Position.model_validate(answer.position),
    )
