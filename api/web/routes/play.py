"""Games of people against versions: played, listed when finished, and replayed."""

from __future__ import annotations

import secrets
from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from starlette.concurrency import run_in_threadpool

from api.schemas.base import Page
from api.schemas.games import (
    Game,
    NewGame,
    PeopleCounts,
    PeopleGameSummary,
    PeopleReplay,
    PersonMove,
    Position,
)
from api.store.core.engine import Session
from api.store.core.ids import new_id
from api.store.matches.finished_people_games import (
    count_finished_games,
    finished_game_record,
    list_finished_games,
    read_finished_game,
)
from api.store.matches.move_requests import RecordedStart, first_request, next_request, opponent_of, recorded_start
from api.store.matches.people_games import (
    answer_of,
    begin_people_game,
    continue_people_game,
    find_people_game,
    game_record,
)
from api.store.trials.reads import require_trial
from api.web.auth.scopes import Viewer
from api.web.changes import Change, Reply
from api.web.problems import ProblemError
from api.web.responses.paging import EntityId, FirstPosition, IdCursor, Limit, text_of
from api.web.responses.serialization import SerializingRoute, record_response, records_page
from api.web.services import Api, Services
from api.web.temporal.ask_worker import ask
from api.web.temporal.replay_parts import ask_for_replay
from orchestrator.contracts.interactive import MoveAnswer, MoveRequest, ReplayRequest, choose_move

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1", tags=["play"])


@router.post(
    "/play", summary="Start a game against a version", status_code=201, response_model=Game, responses={410: {}}
)
async def begin(new: NewGame, principal: Viewer, change: Change) -> Response:
    """The opponent moves first if it has seat 0. Finished games are kept, and count in no rating and no payoff.

    `start` begins with a position of a recorded game; 409 where that position is the last one, 410 where
    the moves of that game were pruned.
    """
    services = change.services

    async def first() -> tuple[MoveRequest, MoveAnswer]:
        request = await run_in_threadpool(_first_request, services, new)
        answer = await ask(services.temporal, choose_move, request)
        if new.start is not None and answer.position.done and len(answer.moves) == len(request.moves):
            raise ProblemError(409, "the game is over in that position; keep fewer of its actions")
        return request, answer

    def keep(session: Session, begun: tuple[MoveRequest, MoveAnswer]) -> Reply:
        start = None if new.start is None else new.start.model_dump(mode="json", exclude_none=True)
        game = begin_people_game(session, new_id(), principal.token_id, *begun, start=start)
        return Reply(
            body=Game.model_validate(game_record(game)), status=201, headers={"Location": f"/api/v1/play/{game.id}"}
        )

    return await change.commit_after(first, keep)


def _first_request(services: Services, new: NewGame) -> MoveRequest:
    version = str(new.version_id)
    with services.reads() as session:
        seed = secrets.randbits(53) if new.seed is None else new.seed
        begun = RecordedStart(seed=seed, moves=[])
        if new.start is not None:
            start = new.start
            if new.seed is not None:
                raise ProblemError(
                    409, "a game that starts from a recorded position has that game's seed: leave out seed"
                )
            begun = recorded_start(
                session, version, match_id=start.match_id, game_id=text_of(start.game_id), moves=start.moves
            )
        return first_request(
            session,
            version,
            seat=new.seat,
            seed=begun.seed,
            sampled=new.sampled,
            search=new.search,
            moves=begun.moves,
        )


@router.get("/play/{game_id}", summary="Get a game", response_model=Game)
def look(game_id: EntityId, services: Api, principal: Viewer) -> Response:
    """The position and all moves. An unfinished game is kept for a day after its last move."""
    with services.reads() as session:
        record = game_record(find_people_game(session, str(game_id), principal.token_id))
    return record_response(record, Game)


@router.post("/play/{game_id}/moves", summary="Make a move", response_model=Game)
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


@router.get("/trials/{trial_id}/people-games", summary="List people's games", response_model=Page[PeopleGameSummary])
def finished(
    trial_id: EntityId,
    services: Api,
    principal: Viewer,
    version_id: Annotated[UUID | None, Query(description="only games against this version")] = None,
    limit: Limit = 50,
    cursor: IdCursor = None,
) -> Response:
    """Finished games of people against versions of the trial, the newest first."""
    with services.reads() as session:
        require_trial(session, str(trial_id))
        rows = list_finished_games(
            session,
            principal.token_id,
            trial_id=str(trial_id),
            version_id=text_of(version_id),
            before=text_of(cursor),
            limit=limit + 1,
        )
    return records_page(rows, limit, PeopleGameSummary)


@router.get("/trials/{trial_id}/people-games/counts", summary="Count people's games", response_model=PeopleCounts)
def counts(trial_id: EntityId, services: Api, principal: Viewer) -> Response:
    """How many of them people won, drew and lost; they count in no rating and no payoff."""
    with services.reads() as session:
        require_trial(session, str(trial_id))
        return record_response(count_finished_games(session, str(trial_id)), PeopleCounts)


@router.get("/play/{game_id}/replay", summary="Replay a person's game")
async def replay(
    game_id: EntityId,
    services: Api,
    principal: Viewer,
    annotate: Annotated[
        UUID | None, Query(description="a version whose probabilities and values are added to each position")
    ] = None,
    first: FirstPosition = None,
) -> PeopleReplay:
    """Every position of a finished game, of any person, drawn by a worker. 409 while no train worker runs."""
    record, request = await run_in_threadpool(
        _replay_request, services, str(game_id), principal.token_id, text_of(annotate)
    )
    found = await ask_for_replay(services.temporal, request, first)
    return PeopleReplay(
        game=record,
        notation=found.notation,
        next=found.next,
        positions=[Position.model_validate(asdict(position)) for position in found.positions],
    )


def _replay_request(
    services: Services, game_id: str, token_id: str, annotator: str | None
) -> tuple[PeopleGameSummary, ReplayRequest]:
    with services.reads() as session:
        row = read_finished_game(session, game_id)
        _, game = opponent_of(session, row.version_id, plays=False)
        opinion = None
        if annotator is not None:
            opinion, other = opponent_of(session, annotator)
            if other != game:
                raise ProblemError(409, f"version {annotator} plays another game and cannot annotate this one")
        record = PeopleGameSummary.model_validate(finished_game_record(session, game_id, token_id))
        return record, ReplayRequest(game=game, seed=row.seed, moves=answer_of(row).moves, annotator=opinion)
