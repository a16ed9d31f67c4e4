"""Decisions of the league and their reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from api.schemas.base import Page
from api.schemas.decisions import Decision
from api.store.core.decisions import DecisionFilter, list_decisions
from api.store.core.records import Record
from api.store.trials.reads import require_trial
from api.web.auth.scopes import Viewer
from api.web.responses.csv_export import CSV_RESPONSE, PAGE, Form, FormQuery, csv_download, every_page
from api.web.responses.paging import EntityId, Limit, NumberCursor, text_of
from api.web.responses.serialization import SerializingRoute, records_page
from api.web.services import Api
from league.types import DecisionKind

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/trials/{trial_id}", tags=["league"])


COLUMNS = tuple(Decision.model_fields)


@router.get("/decisions", summary="List decisions", response_model=Page[Decision], responses=CSV_RESPONSE)
def decisions(
    trial_id: EntityId,
    services: Api,
    principal: Viewer,
    kind: Annotated[list[DecisionKind] | None, Query(description="only of these kinds")] = None,
    player_id: Annotated[UUID | None, Query(description="only about this player")] = None,
    generation: Annotated[int | None, Query(ge=0, le=2**31 - 1, description="only for this generation")] = None,
    form: FormQuery = Form.JSON,
    limit: Limit = 50,
    cursor: NumberCursor = None,
) -> Response:
    """The append-only record of decisions with their reasons, the newest first."""
    which = DecisionFilter(kinds=tuple(kind or ()), player_id=text_of(player_id), generation=generation)

    def read(before: int | None) -> Sequence[Record]:
        with services.reads() as session:
            return list_decisions(session, str(trial_id), which, before=before, limit=PAGE)

    with services.reads() as session:
        require_trial(session, str(trial_id))
        if form is Form.CSV:
            return csv_download(f"decisions-{trial_id}", COLUMNS, every_page(read))
        rows = list_decisions(session, str(trial_id), which, before=cursor, limit=limit + 1)
    return records_page(rows, limit, Decision)
