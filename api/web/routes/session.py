"""Browser sessions: a token or a one-time code is exchanged for an HttpOnly cookie."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from api.schemas.installation.session import BrowserSession, CodeExpiry, OneTimeCode, SignIn
from api.store.access.browser_sessions import end_session, open_session
from api.store.access.used_codes import use_code
from api.store.core.audit_log import add_audit_entry
from api.store.core.engine import Session
from api.web.auth.authentication import CHALLENGE
from api.web.auth.failed_sign_ins import FailedSignIns
from api.web.auth.scopes import Viewer
from api.web.auth.sessions import COOKIE
from api.web.auth.sign_in_codes import SECONDS, issue_code, read_code
from api.web.auth.tokens import Principal
from api.web.changes import AuditLine, Change, KeyHeader, Reply
from api.web.problems import ProblemError
from api.web.responses.serialization import SerializingRoute
from api.web.services import Api, Services

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1/session", tags=["session"])

UNKNOWN_TOKEN = "this token is unknown, expired or revoked"  # noqa: S105 a sentence
USED_CODE = "this code was used before, or is too old; `lanista up` prints a new link"


@router.post(
    "",
    summary="Sign in",
    status_code=201,
    response_model=BrowserSession,
    responses={401: {"description": "The token is not valid"}},
)
async def sign_in(
    request: Request, response: Response, sign_in: SignIn, services: Api, idempotency_key: KeyHeader = None
) -> BrowserSession | Response:
    """Exchange a token or a one-time code for an HttpOnly, SameSite=Strict cookie.

    Signing in again with a token makes another session; a code works once. If its answer was lost, the same code is
    accepted again for a minute with the same Idempotency-Key, if that has 20 characters or more (such as a UUID).
    """
    address = request.client.host if request.client else None
    failures: FailedSignIns = request.app.state.failed_sign_ins
    principal = await failures.look_up(request, lambda: _principal(services, sign_in, idempotency_key))
    if principal is None:
        if refusal := failures.refusal(request):
            return refusal
        raise ProblemError(401, UNKNOWN_TOKEN if sign_in.code is None else USED_CODE, headers=CHALLENGE)
    signer = services.signer
    used = "token" if sign_in.code is None else "code"
    cookie = signer.issue(await run_in_threadpool(_open, services, principal, address, used))
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
    return _shown(principal, _end(principal, signer.seconds), signer.csrf_token(cookie))


@router.post(
    "/codes",
    summary="Create a one-time sign-in code",
    status_code=201,
    responses={403: {"description": "The caller is a browser session, which may not extend itself"}},
)
async def make_code(response: Response, services: Api, principal: Viewer, change: Change) -> OneTimeCode:
    """A code that opens one browser session of the caller's token, within ten minutes.

    Put it after the # of an address, `/signin#code=...`: that part never reaches a server or its logs.
    """
    if principal.by_cookie:
        raise ProblemError(403, "a browser session cannot make a code, by which it could extend itself; use the token")
    end = datetime.now(UTC) + timedelta(seconds=SECONDS)
    audit = AuditLine(action="session.code", target=f"token/{principal.token_id}")
    operation_id = change.operation_id
    kept = await change.commit(lambda session: Reply(status=201, body=CodeExpiry(expires_at=end), audit=audit))
    end = CodeExpiry.model_validate_json(bytes(kept.body)).expires_at
    response.headers["Cache-Control"] = "no-store"
    code = issue_code(services.signer, principal.token_id, request=operation_id, end=end.timestamp())
    return OneTimeCode(code=code, expires_at=end)


@router.get("", summary="Get the current session")
async def who_am_i(request: Request, services: Api, principal: Viewer) -> BrowserSession:
    """The caller's token, and for a browser its CSRF token."""
    cookie = request.cookies.get(COOKIE, "") if principal.by_cookie else None
    csrf_token = None if cookie is None else services.signer.csrf_token(cookie)
    return _shown(principal, principal.expires_at, csrf_token)


@router.delete("", summary="Sign out", status_code=204)
async def sign_out(services: Api, principal: Viewer, change: Change) -> Response:
    """End the session and delete the browser's cookie. A copy of the cookie is refused from then on."""
    audit = AuditLine(action="session.close", target=f"token/{principal.token_id}")

    def end(session: Session) -> Reply:
        if principal.session_id is not None:
            end_session(session, principal.session_id)
        return Reply(status=204, audit=audit)

    response = await change.commit(end)
    services.tokens.clear_cache()
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response


def _open(services: Services, principal: Principal, address: str | None, used: str) -> str:
    """Record the new session, with its line in the audit log; returns its id."""
    with services.sessions.begin() as session:
        add_audit_entry(
            session,
            actor=principal.name,
            token_id=principal.token_id,
            action="session.open",
            target=f"token/{principal.token_id}",
            detail={"with": used},
            remote_address=address,
        )
        return open_session(session, principal.token_id, timedelta(seconds=services.signer.seconds))


def _principal(services: Services, sign_in: SignIn, idempotency_key: str | None) -> Principal | None:
    """The principal that signs in; None if the token or the code is not valid."""
    if sign_in.token is not None:
        return services.tokens.by_secret(sign_in.token)
    code = read_code(services.signer, sign_in.code or "")
    if code is None:
        return None
    with services.sessions.begin() as session:
        if not use_code(session, code.token_id, code.number, idempotency_key):
            return None
    return services.tokens.by_id(code.token_id)


def _end(principal: Principal, seconds: int) -> datetime:
    end = datetime.now(UTC) + timedelta(seconds=seconds)
    return end if principal.expires_at is None else min(end, principal.expires_at)


def _shown(principal: Principal, end: datetime | None, csrf_token: str | None) -> BrowserSession:
    return BrowserSession(name=principal.name, scope=principal.scope, expires_at=end, csrf_token=csrf_token)
