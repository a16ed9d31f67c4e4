"""The audit log of changes."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from api.schemas.base import Page
from api.schemas.installation.audit_log import Entry
from api.store.core.audit_log import list_audit_entries
from api.web.auth.scopes import Admin
from api.web.responses.paging import Limit, NumberCursor, text_of
from api.web.responses.serialization import SerializingRoute, records_page
from api.web.services import Api

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/audit", tags=["audit"])


@router.get("", summary="List changes", response_model=Page[Entry])
def entries(
    services: Api,
    principal: Admin,
    limit: Limit = 50,
    cursor: NumberCursor = None,
    target: Annotated[
        str | None, Query(max_length=200, pattern=r"^[^\x00]*$", description="only changes of this kind/id")
    ] = None,
    token_id: Annotated[UUID | None, Query(description="only changes made with this token")] = None,
) -> Response:
    """The audit log, the newest entry first. It is append-only."""
    with services.reads() as session:
        rows = list_audit_entries(session, before=cursor, limit=limit + 1, target=target, token_id=text_of(token_id))
    return records_page(rows, limit, Entry)
