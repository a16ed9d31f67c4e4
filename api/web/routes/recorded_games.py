"""Recorded games of outside processes: list, download, picture."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from starlette.concurrency import run_in_threadpool

from api.schemas.base import Page
from api.schemas.recorded_games import RecordedGame
from api.store.core.records import Record
from api.store.trials.reads import get_trial, require_trial
from api.store.trials.spec import spec_of
from api.web.auth.scopes import Viewer
from api.web.problems import ProblemError
from api.web.responses.paging import CURSOR, EntityId, Limit
from api.web.responses.serialization import SerializingRoute, records_page
from api.web.services import Api, Services
from api.web.temporal.ask_worker import ask
from orchestrator.catalog import Component
from orchestrator.contracts.interactive import DrawRecordedGame, draw_recorded_game
from orchestrator.storage.artifacts import ArtifactStoreUnavailable
from orchestrator.storage.recorded_games import GAME, PICTURE, RecordedGames, RecordedSummary

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1", tags=["matches"])

ID_PATTERN = r"^[0-9]{13}-[0-9a-f]{8}$"
GameId = Annotated[str, Path(pattern=ID_PATTERN, description="its id", examples=["1794945600000-0f3a9c1e"])]
GameCursor = Annotated[str | None, Query(pattern=ID_PATTERN, description=CURSOR)]


@router.get("/trials/{trial_id}/recorded-games", summary="List recorded games", response_model=Page[RecordedGame])
def list_all(
    trial_id: EntityId, services: Api, principal: Viewer, limit: Limit = 50, cursor: GameCursor = None
) -> Response:
    """Games of outside processes that were kept (`dump` of a remote game), the newest first."""
    with services.reads() as session:
        require_trial(session, str(trial_id))
    try:
        found = _store(services).newest(str(trial_id), limit + 1, cursor)
    except ArtifactStoreUnavailable:
        raise _unavailable() from None
    return records_page([_record(each) for each in found], limit, RecordedGame)


@router.get(
    "/trials/{trial_id}/recorded-games/{game_id}",
    summary="Download a recorded game",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}},
)
def download(trial_id: EntityId, game_id: GameId, services: Api, principal: Viewer) -> Response:
    """The file that `lanista gamecore replay` takes: a RecordedGame message of protos/, compressed by gzip."""
    headers = {"Content-Disposition": f'attachment; filename="{game_id}.game"'}
    return Response(_file(services, trial_id, game_id, GAME), headers=headers, media_type="application/octet-stream")


@router.get(
    "/trials/{trial_id}/recorded-games/{game_id}/picture",
    summary="Get a picture of a recorded game",
    response_class=Response,
    responses={
        200: {"content": {"image/gif": {"schema": {"type": "string", "format": "binary"}}}},
        409: {"description": "The trial names no function that draws, or no train worker runs"},
    },
)
async def picture(trial_id: EntityId, game_id: GameId, services: Api, principal: Viewer) -> Response:
    """The game as a GIF, drawn once by a worker, with the function that the trial names as `dump: {render: ...}`."""
    found = await run_in_threadpool(_picture, services, trial_id, game_id)
    if found is None:
        game = await run_in_threadpool(_game, services, trial_id, game_id)
        message = DrawRecordedGame(game=game, trial=str(trial_id), recording=game_id)
        await ask(services.temporal, draw_recorded_game, message)
        found = await run_in_threadpool(_file, services, trial_id, game_id, PICTURE)
    return Response(found, headers={"Cache-Control": "private, max-age=3600"}, media_type="image/gif")


def _store(services: Services) -> RecordedGames:
    return RecordedGames(services.settings.artifacts)


def _record(summary: RecordedSummary) -> Record:
    return {**asdict(summary), "started_at": datetime.fromtimestamp(summary.started_at, UTC)}


def _file(services: Services, trial_id: EntityId, game_id: str, suffix: str) -> bytes:
    try:
        found = _store(services).get(str(trial_id), game_id, suffix)
    except ArtifactStoreUnavailable:
        raise _unavailable() from None
    if found is None:
        raise ProblemError(404, f"the trial has no recorded game {game_id}; older ones are removed")
    return found


def _picture(services: Services, trial_id: EntityId, game_id: str) -> bytes | None:
    try:
        return _store(services).get(str(trial_id), game_id, PICTURE)
    except ArtifactStoreUnavailable:
        raise _unavailable() from None


def _game(services: Services, trial_id: EntityId, game_id: str) -> Component:
    """The trial's game, whose options name the function that draws."""
    with services.reads() as session:
        component = spec_of(get_trial(session, str(trial_id))).game.component
    dump = component.options.get("dump")
    if not isinstance(dump, dict) or not dump.get("render"):
        raise ProblemError(409, "the trial names no function that draws its games: dump: {render: module:function}")
    _file(services, trial_id, game_id, GAME)
    return component


def _unavailable() -> ProblemError:
    return ProblemError(503, "the artifact store does not answer; try again")
