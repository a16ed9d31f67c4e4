"""Replays of recorded games."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool

from api.schemas.games import MOST_SIMULATIONS, Position, Replay
from api.schemas.matches import MatchSummary
from api.store.matches.move_requests import opponent_of
from api.store.matches.reads import moves_of, read_match
from api.web.auth.scopes import Viewer
from api.web.problems import ProblemError
from api.web.responses.paging import FirstPosition, RowNumber, text_of
from api.web.responses.serialization import SerializingRoute
from api.web.services import Api, Services
from api.web.temporal.replay_parts import ask_for_replay
from orchestrator.contracts.interactive import ReplayRequest

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1", tags=["matches"])


@router.get("/matches/{match_id}/replay", summary="Replay a match", responses={410: {}})
async def replay(
    match_id: RowNumber,
    services: Api,
    principal: Viewer,
    seat: Annotated[int | None, Query(ge=0, le=63, description="only what this seat sees; default: everything")] = None,
    annotate: Annotated[
        UUID | None, Query(description="a version whose probabilities and values are added to each position")
    ] = None,
    search: Annotated[
        int | None,
        Query(ge=1, le=MOST_SIMULATIONS, description="simulations with which that version also searches each position"),
    ] = None,
    first: FirstPosition = None,
) -> Replay:
    """Every position with its image, drawn by a worker. 409 while no train worker runs; 410 if its moves are pruned."""
    match, opening, request = await run_in_threadpool(_request, services, match_id, seat, text_of(annotate), search)
    found = await ask_for_replay(services.temporal, request, first)
    return Replay(
        match=match,
        opening_plies=opening,
        notation=found.notation,
        next=found.next,
        positions=[Position.model_validate(asdict(position)) for position in found.positions],
    )


def _request(
    services: Services, match_id: int, seat: int | None, annotator: str | None, search: int | None
) -> tuple[MatchSummary, int, ReplayRequest]:
    with services.reads() as session:
        match = read_match(session, match_id)
        moves = moves_of(match)
        _, game = opponent_of(session, match["version_id"], plays=False)
        opinion = None
        if annotator is not None:
            opinion, other = opponent_of(session, annotator)
            if other != game:
                raise ProblemError(409, f"version {annotator} plays another game and cannot annotate this one")
        if search is not None and opinion is None:
            raise ProblemError(409, "search needs a version that annotates: give annotate too")
        request = ReplayRequest(game=game, seed=match["seed"], moves=moves, seat=seat, annotator=opinion, search=search)
        opening = int((match["opening"] or {}).get("plies", 0))
        return MatchSummary.model_validate(match), opening, request
