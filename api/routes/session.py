"""Signing in with a browser: a token is exchanged for a cookie that scripts cannot read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fastapi import APIRouter, Request, Response
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from api.auth.authentication import CHALLENGE
from api.auth.limits import RateLimit
from api.auth.scopes import Viewer
from api.auth.sessions import COOKIE
from api.auth.tokens import Principal
from api.problems import Refusal
from api.routes.shapes import Body, Shape, Utc
from api.service.changes import Answer, Audited, Change, KeyHeader
from api.service.context import Api
from api.store.audit import add_audit_entry
from api.store.models.words import Scope

router = APIRouter(prefix="/api/v1/session", tags=["session"])


class SignIn(Body):
    """The token to sign in with."""

    token: str = Field(min_length=1, max_length=200, description="an API token", examples=["lanista_..."])


class BrowserSession(Shape):
    """Who is signed in."""

    name: str = Field(description="name of the token", examples=["admin"])
    scope: Scope = Field(description="what it may do")
    expires_at: Utc | None = Field(description="when the session ends; null: with a bearer token that does not expire")
    csrf_token: str | None = Field(
        description="send it as X-CSRF-Token with every change a browser makes; null for a bearer token"
    )


@router.post("", summary="Sign in", status_code=201, responses={401: {"description": "The token is not valid"}})
async def sign_in(
    request: Request, response: Response, sign_in: SignIn, services: Api, idempotency_key: KeyHeader = None
) -> BrowserSession:
    """Exchange a token for an HttpOnly, SameSite=Strict cookie. Signing in again simply makes another session."""
    address = request.client.host if request.client else "unknown"
    principal = await run_in_threadpool(services.tokens.by_secret, sign_in.token)
    if principal is None:
        failures: RateLimit = request.app.state.failed_sign_ins
        failures.wait_for(address)
        raise Refusal(401, "this token is unknown, expired or revoked", headers=CHALLENGE)
    signer = services.signer
    cookie = signer.issue(principal.token_id)
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=signer.seconds,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
        path="/",
    )
    response.headers["Cache-Control"] = "no-store"

    def note() -> None:
        with services.sessions.begin() as session:
            add_audit_entry(
                session,
                actor=principal.name,
                token_id=principal.token_id,
                action="session.open",
                target=f"token/{principal.token_id}",
                remote_address=address,
            )

    await run_in_threadpool(note)
    return _shown(principal, _end(principal, signer.seconds), signer.csrf_token(cookie))


@router.get("", summary="Who am I?")
async def who_am_i(request: Request, services: Api, principal: Viewer) -> BrowserSession:
    """The caller's token, and for a browser the word that its changes must carry."""
    cookie = request.cookies.get(COOKIE, "") if principal.by_cookie else None
    csrf_token = None if cookie is None else services.signer.csrf_token(cookie)
    return _shown(principal, principal.expires_at, csrf_token)


@router.delete("", summary="Sign out", status_code=204)
async def sign_out(principal: Viewer, change: Change) -> Response:
    """Delete the browser's cookie."""
    audited = Audited(action="session.close", target=f"token/{principal.token_id}")
    response = await change.commit(lambda session: Answer(status=204, audited=audited))
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response


def _end(principal: Principal, seconds: int) -> datetime:
    end = datetime.now(UTC) + timedelta(seconds=seconds)
    return end if principal.expires_at is None else min(end, principal.expires_at)


def _shown(principal: Principal, end: datetime | None, csrf_token: str | None) -> BrowserSession:
    return BrowserSession(name=principal.name, scope=principal.scope, expires_at=end, csrf_token=csrf_token)
