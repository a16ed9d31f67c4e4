"""A person against a version, in the browser."""

from __future__ import annotations

import secrets
import uuid
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from api.auth.scopes import Viewer
from api.problems import Refusal
from api.routes.paging import EntityId
from api.routes.replays import Position
from api.routes.shapes import Body, Shape
from api.service.asking import ask
from api.service.changes import Change
from api.service.context import Api, Services
from api.service.playing import PersonsGame, opponent_of
from orchestrator.contracts.interactive import MoveAnswer, MoveRequest, choose_move

router = APIRouter(prefix="/api/v1/play", tags=["play"])


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


@router.post("", summary="Play against a version", status_code=201)
async def begin(new: NewGame, principal: Viewer, change: Change) -> Game:
    """Begin a game; the opponent moves first if it has the first seat. Games of people are not recorded."""
    services = change.services
    game_id = str(uuid.uuid5(uuid.NAMESPACE_OID, change.once_id))
    known = services.games.find(game_id, principal.token_id)
    if known is not None:
        return _shown(known, known.answer)
    request = await run_in_threadpool(_request, services, new)
    answer = await ask(services.temporal, choose_move, request)
    game = PersonsGame(
        id=game_id, version_id=str(new.version_id), token_id=principal.token_id, request=request, answer=answer
    )
    services.games.add(game)
    return _shown(game, answer)


@router.get("/{game_id}", summary="A game under way")
async def look(game_id: EntityId, services: Api, principal: Viewer) -> Game:
    """Where the game stands. It is kept for an hour, by the API process it was begun with."""
    game = _find(services, str(game_id), principal.token_id)
    return _shown(game, game.answer)


@router.post("/{game_id}/moves", summary="Make a move")
async def move(game_id: EntityId, move: Move, principal: Viewer, change: Change) -> Game:
    """Make the person's move and get the opponent's answer. An action that is not legal is refused with 409."""
    services, key = change.services, change.once_id
    game = _find(services, str(game_id), principal.token_id)
    async with game.turn:
        if key not in game.answered:
            if game.answer.position.done:
                raise Refusal(409, "the game is over; begin another with POST /api/v1/play")
            game.take(await ask(services.temporal, choose_move, game.next_request(move.action)), key)
        return _shown(game, game.answered[key])


def _find(services: Services, game_id: str, token_id: str) -> PersonsGame:
    game = services.games.find(game_id, token_id)
    if game is None:
        raise Refusal(404, f"there is no game {game_id} of yours; games are kept for an hour and end with the API")
    return game


def _request(services: Services, new: NewGame) -> MoveRequest:
    with services.reads() as session:
        opponent, game = opponent_of(session, str(new.version_id))
    seed = secrets.randbits(53) if new.seed is None else new.seed
    return MoveRequest(game=game, seed=seed, moves=[], person=new.seat, opponent=opponent, sampled=new.sampled)


def _shown(game: PersonsGame, answer: MoveAnswer) -> Game:
    return Game(
        id=game.id,
        version_id=game.version_id,
        seat=game.request.person,
        moves=answer.moves,
        answered=answer.answered,
        position=Position.model_validate(answer.position),
    )
