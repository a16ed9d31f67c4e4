"""Whether a trial goes well, and what went wrong in it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api.schemas.base import Page
from api.schemas.failures import RecordedFailure
from api.schemas.overview import TrialOverview
from api.store.overview.trial import trial_overview
from api.store.trials.failures import list_failures
from api.store.trials.reads import get_trial, require_trial
from api.web.auth.scopes import Viewer
from api.web.responses.paging import EntityId, Limit, NumberCursor, text_of
from api.web.responses.serialization import SerializingRoute
from api.web.services import Api

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/trials/{trial_id}", tags=["trials"])


@router.get("/overview", summary="Get whether a trial goes well")
def overview(trial_id: EntityId, services: Api, principal: Viewer) -> TrialOverview:
    """Champion, rating gained, gates and tournaments under way, and problems of the last hour."""
    with services.snapshots() as session:
        return trial_overview(session, get_trial(session, str(trial_id)), datetime.now(UTC))


@router.get("/failures", summary="List what went wrong")
def failures(
    trial_id: EntityId,
    services: Api,
    principal: Viewer,
    player_id: Annotated[UUID | None, Query(description="only of this player")] = None,
    limit: Limit = 50,
    cursor: NumberCursor = None,
) -> Page[RecordedFailure]:
    """Failed attempts, damaged checkpoints and other failures of a trial or a player, the newest first."""
    with services.reads() as session:
        require_trial(session, str(trial_id))
        found = list_failures(session, str(trial_id), player_id=text_of(player_id), before=cursor, limit=limit + 1)
    following = str(found[limit - 1].id) if len(found) > limit else None
    return Page(items=found[:limit], next_cursor=following)
