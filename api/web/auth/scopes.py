"""Authorization: every route depends on the scope it requires; 403 for a caller with a lower one."""

from __future__ import annotations

from typing import Annotated

from fastapi import Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer

from api.schemas.enums import Scope
from api.web.auth.sessions import COOKIE
from api.web.auth.tokens import Principal
from api.web.problems import ProblemError

# These two only describe the credentials for the OpenAPI document; the middleware has checked them by then.
BEARER = HTTPBearer(auto_error=False, scheme_name="token", description="an API token: `lanista token create`")
SESSION = APIKeyCookie(
    name=COOKIE,
    auto_error=False,
    scheme_name="session",
    description="a browser session, made from a token by POST /api/v1/session",
)


class Require:
    """A dependency that admits callers with this scope or a higher one."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    async def __call__(
        self,
        request: Request,
        bearer: Annotated[object, Security(BEARER)],
        session: Annotated[object, Security(SESSION)],
    ) -> Principal:
        principal: Principal = request.state.principal
        if not principal.may(self.scope):
            raise ProblemError(
                403,
                f"this requires a token of scope {self.scope}; yours has scope {principal.scope}",
                needed_scope=self.scope,
                scope=principal.scope,
            )
        return principal


Viewer = Annotated[Principal, Security(Require(Scope.VIEWER))]
Operator = Annotated[Principal, Security(Require(Scope.OPERATOR))]
Coder = Annotated[Principal, Security(Require(Scope.CODE))]
Admin = Annotated[Principal, Security(Require(Scope.ADMIN))]
