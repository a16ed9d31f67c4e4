"""API tokens: create, list, revoke."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fastapi import APIRouter, Response

from api.schemas.base import Page
from api.schemas.installation.tokens import MadeToken, NewToken, Token
from api.store.access.tokens import add_token, list_tokens, read_token, revoke_token
from api.store.core.engine import Session
from api.web.auth.scopes import Admin
from api.web.auth.tokens import new_token, token_hash
from api.web.changes import AuditLine, Change, Reply
from api.web.responses.paging import EntityId, IdCursor, Limit, text_of
from api.web.responses.serialization import SerializingRoute, records_page
from api.web.services import Api

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/tokens", tags=["tokens"])


@router.get("", summary="List tokens", response_model=Page[Token])
def list_all(services: Api, principal: Admin, limit: Limit = 50, cursor: IdCursor = None) -> Response:
    """All tokens, the newest first. Only hashes of their secrets are stored."""
    with services.reads() as session:
        rows = list_tokens(session, after=text_of(cursor), limit=limit + 1)
    return records_page(rows, limit, Token)


@router.post("", summary="Create a token", status_code=201, response_model=MadeToken)
async def make(new: NewToken, principal: Admin, change: Change) -> Response:
    """The answer contains the secret, this once only; the database stores its hash."""
    secret = new_token()
    expires_at = None if new.expires_in_days is None else datetime.now(UTC) + timedelta(days=new.expires_in_days)

    def work(session: Session) -> Reply:
        row = add_token(session, name=new.name, scope=new.scope, sha256=token_hash(secret), expires_at=expires_at)
        shown = read_token(session, row.id)
        return Reply(
            status=201,
            body=MadeToken.model_validate({**shown, "token": secret}),
            body_for_retries=MadeToken.model_validate({**shown, "token": None}),
            audit=AuditLine(
                action="token.create", target=f"token/{row.id}", detail={"name": new.name, "scope": new.scope}
            ),
        )

    response = await change.commit(work)
    response.headers["Cache-Control"] = "no-store"
    return response


@router.delete("/{token_id}", summary="Revoke a token", status_code=204)
async def revoke(token_id: EntityId, principal: Admin, change: Change) -> Response:
    """End the token and its browser sessions at once. The row stays, for the audit log."""

    def work(session: Session) -> Reply:
        row = revoke_token(session, str(token_id))
        return Reply(
            status=204, audit=AuditLine(action="token.revoke", target=f"token/{row.id}", detail={"name": row.name})
        )

    response = await change.commit(work)
    change.services.tokens.clear_cache()
    return response
