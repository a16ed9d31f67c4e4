"""The audit log: who changed what, when."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from api.schemas.base import Shape, Utc
from api.store.core.audit_log import list_audit_entries
from api.web.auth.scopes import Admin
from api.web.responses.paging import Limit, NumberCursor, Page, page_of, text_of
from api.web.responses.serialization import ReadyRoute
from api.web.services import Api

router = APIRouter(route_class=ReadyRoute, prefix="/api/v1/audit", tags=["audit"])


class Entry(Shape):
    """One change that somebody made."""

    id: int = Field(description="its number in the log", examples=[42])
    at: Utc = Field(description="when")
    actor: str = Field(description="name of the token, or of the user on the command line", examples=["admin"])
    token_id: str | None = Field(description="the token")
    action: str = Field(description="what was done", examples=["trial.create"])
    target: str | None = Field(description="to what, as kind/id", examples=["trial/0198c5a2-..."])
    detail: dict[str, Any] = Field(description="with what", examples=[{"mode": "drain"}])
    remote_address: str | None = Field(description="from where", examples=["127.0.0.1"])


@router.get("", summary="Who changed what, when")
def entries(
    services: Api,
    principal: Admin,
    limit: Limit = 50,
    cursor: NumberCursor = None,
    target: Annotated[
        str | None, Query(max_length=200, pattern=r"^[^\x00]*$", description="only changes of this kind/id")
    ] = None,
    token_id: Annotated[UUID | None, Query(description="only changes made with this token")] = None,
) -> Page[Entry]:
    """The log, the newest entry first. It can be added to and never changed."""
    with services.reads() as session:
        rows = list_audit_entries(session, before=cursor, limit=limit + 1, target=target, token_id=text_of(token_id))
        return page_of(rows, limit, Entry.model_validate, lambda entry: entry.id)
