"""Matches: recorded gating and rating games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from starlette.concurrency import run_in_threadpool

from api.schemas.base import Page
from api.schemas.matches import HeadToHead, Match, MatchSummary, NamedOpening, OpeningNames
from api.store.core.records import Record
from api.store.matches.head_to_head import head_to_head
from api.store.matches.move_requests import opponent_of
from api.store.matches.reads import MatchFilter, list_matches, read_match
from api.store.players.reads import get_version
from api.store.trials.reads import require_trial
from api.web.auth.scopes import Viewer
from api.web.responses.csv_export import CSV_RESPONSE, PAGE, Form, FormQuery, csv_download, every_page
from api.web.responses.paging import EntityId, Limit, NumberCursor, RowNumber, text_of
from api.web.responses.serialization import SerializingRoute, record_response, records_page
from api.web.services import Api, Services
from api.web.temporal.ask_worker import ask
from league.types import Stream
from orchestrator.contracts.interactive import NameMoves, name_moves

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1", tags=["matches"])


COLUMNS = tuple(MatchSummary.model_fields)


@router.get(
    "/trials/{trial_id}/matches", summary="List matches", response_model=Page[MatchSummary], responses=CSV_RESPONSE
)
def matches(
    trial_id: EntityId,
    services: Api,
    principal: Viewer,
    stream: Annotated[Stream | None, Query(description="only gating, or only rating games")] = None,
    player_id: Annotated[UUID | None, Query(description="only games of this player, on either side")] = None,
    opponent_id: Annotated[UUID | None, Query(description="with player_id: only games against this player")] = None,
    version_id: Annotated[UUID | None, Query(description="only games of this version, on either side")] = None,
    gate_id: Annotated[UUID | None, Query(description="only of this gate")] = None,
    tournament_id: Annotated[UUID | None, Query(description="only of this tournament")] = None,
    form: FormQuery = Form.JSON,
    limit: Limit = 50,
    cursor: NumberCursor = None,
) -> Response:
    """Gating and rating games, the newest first. Training games are only counted."""
    which = MatchFilter(
        stream=stream,
        player_id=text_of(player_id),
        opponent_id=text_of(opponent_id),
        version_id=text_of(version_id),
        gate_id=text_of(gate_id),
        tournament_id=text_of(tournament_id),
    )

    def read(before: int | None) -> Sequence[Record]:
        with services.reads() as session:
            return list_matches(session, str(trial_id), which, before=before, limit=PAGE)

    with services.reads() as session:
        require_trial(session, str(trial_id))
        if form is Form.CSV:
            return csv_download(f"matches-{trial_id}", COLUMNS, every_page(read))
        rows = list_matches(session, str(trial_id), which, before=cursor, limit=limit + 1)
    return records_page(rows, limit, MatchSummary)


@router.get("/matches/{match_id}", summary="Get a match", response_model=Match)
def get_one(match_id: RowNumber, services: Api, principal: Viewer) -> Response:
    """The game with its moves, as the game's own action numbers."""
    with services.reads() as session:
        record = read_match(session, match_id)
    return record_response(record, Match)


@router.get(
    "/versions/{version_id}/against/{opponent_version_id}",
    summary="Get two versions against each other",
    response_model=HeadToHead,
)
def against(version_id: EntityId, opponent_version_id: EntityId, services: Api, principal: Viewer) -> Response:
    """Their recorded games by seat and by opening, with 95 % intervals. Training games are not recorded one by one."""
    with services.reads() as session:
        for each in (version_id, opponent_version_id):
            get_version(session, str(each))
        record = head_to_head(session, str(version_id), str(opponent_version_id))
    return record_response(record, HeadToHead)


@router.get(
    "/versions/{version_id}/against/{opponent_version_id}/openings", summary="Name the openings of two versions"
)
async def openings(
    version_id: EntityId, opponent_version_id: EntityId, services: Api, principal: Viewer
) -> OpeningNames:
    """What people call the moves of their openings, by a worker. 409 while no train worker runs."""
    request = await run_in_threadpool(_openings, services, str(version_id), str(opponent_version_id))
    found = await ask(services.temporal, name_moves, request)
    named = zip(request.openings, found.openings, strict=True)
    return OpeningNames(items=[NamedOpening(opening=opening, names=names) for opening, names in named])


def _openings(services: Services, version_id: str, opponent_version_id: str) -> NameMoves:
    with services.reads() as session:
        for each in (version_id, opponent_version_id):
            get_version(session, each)
        _, game = opponent_of(session, version_id, plays=False)
        rows = head_to_head(session, version_id, opponent_version_id)["openings"]
    return NameMoves(game=game, openings=[each["opening"] for each in rows], seeds=[each["seed"] for each in rows])
