"""Authentication, before a body is read: by a bearer token or a session cookie, else 401.

See docs/decisions/authentication.md.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from api.store.core.errors import OperationalError
from api.web.auth.failed_sign_ins import FailedSignIns
from api.web.auth.rate_limits import RateLimit, too_many
from api.web.auth.sessions import COOKIE, CSRF_HEADER, SessionSigner
from api.web.auth.tokens import Principal, TokenLookup, token_hash
from api.web.problems import problem

PREFIX = "/api/"
OPEN = frozenset({("POST", "/api/v1/session")})
"""The call that needs no credentials: signing in."""
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
CHALLENGE = {"WWW-Authenticate": "Bearer"}


class Authentication:
    """ASGI middleware for everything below /api/: 401 without valid credentials, 429 above the rate limits.

    Authorization happens in the routes: each names the scope that it requires.
    """

    def __init__(self, app: ASGIApp, signer: SessionSigner, requests: RateLimit, failures: FailedSignIns) -> None:
        self._app = app
        self._signer = signer
        self._requests = requests
        self._failures = failures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        try:
            answer = await self._admit(request)
        except OperationalError:
            answer = problem(503, "the database does not answer; try again", headers={"Retry-After": "2"})
        await (answer or self._app)(scope, receive, send)

    async def _admit(self, request: Request) -> Response | None:
        """None if the request is admitted, with its principal in `request.state`; else the response that refuses it."""
        if (request.method, request.url.path) in OPEN:
            return _foreign_origin(request)
        found = await self._identify(request)
        if isinstance(found, Response):
            if found.status_code == 401 and _gave_credentials(request):
                return self._failures.refusal(request) or found
            return found
        if wait := self._requests.wait_for(found.token_id):
            return too_many(wait, "this token's rate limit is used up")
        request.state.principal = found
        return None

    async def _identify(self, request: Request) -> Principal | Response:
        tokens: TokenLookup = request.app.state.services.tokens
        header = request.headers.get("authorization")
        if header is not None:
            kind, _, secret = header.partition(" ")
            if kind.lower() != "bearer" or not secret.strip():
                return problem(401, "send `Authorization: Bearer <token>`", headers=CHALLENGE)
            found = await self._find_principal(request, tokens, secret.strip())
            return found or problem(401, "this token is unknown, expired or revoked", headers=CHALLENGE)
        cookie = request.cookies.get(COOKIE)
        if cookie is None:
            return problem(401, "sign in, or send `Authorization: Bearer <token>`", headers=CHALLENGE)
        return await self._by_cookie(request, tokens, cookie)

    async def _find_principal(self, request: Request, tokens: TokenLookup, secret: str) -> Principal | None:
        """The principal of a secret, from the cache if possible: only a query needs a thread."""
        known = tokens.cached(token_hash(secret))
        return known or await self._failures.look_up(request, lambda: tokens.by_secret(secret))

    async def _by_cookie(self, request: Request, tokens: TokenLookup, cookie: str) -> Principal | Response:
        """The session's principal. The CSRF token is needed on reads too: a cookie reaches every port of its host."""
        session_id = self._signer.session_id(cookie)
        found = None if session_id is None else await run_in_threadpool(tokens.by_session, session_id)
        if found is None:
            return problem(401, "this session is over; sign in again", headers=CHALLENGE)
        refused = _foreign_origin(request)
        if refused is not None:
            return refused
        if not self._signer.is_csrf_token(cookie, request.headers.get(CSRF_HEADER, "")):
            if request.method in SAFE:
                detail = f"the session cookie needs the header {CSRF_HEADER} of its session beside it; sign in again"
                return problem(401, detail, headers=CHALLENGE)
            return problem(403, f"a change by a browser session needs the header {CSRF_HEADER} of this session")
        return found


def _gave_credentials(request: Request) -> bool:
    return "authorization" in request.headers or COOKIE in request.cookies


def _foreign_origin(request: Request) -> Response | None:
    """403 for a request of another origin's page. Browsers name it in `Origin`, on reads only in `Sec-Fetch-Site`.

    Another port of the same host is `same-site`, and is another origin all the same.
    """
    if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        return problem(403, "this request comes from a page of another site")
    origin = request.headers.get("origin")
    if origin is None or urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower():
        return None
    return problem(403, "this request comes from a page of another site")
