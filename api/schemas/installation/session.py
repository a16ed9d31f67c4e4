"""Browser sessions and one-time sign-in codes."""

from __future__ import annotations

from pydantic import Field, model_validator

from api.schemas.base import Answer, Body, Utc
from api.schemas.enums import Scope


class SignIn(Body):
    """A token, or a one-time code."""

    token: str | None = Field(
        default=None, min_length=1, max_length=200, description="an API token", examples=["lanista_..."]
    )
    code: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="instead of a token: a one-time code from POST /api/v1/session/codes",
    )

    @model_validator(mode="after")
    def _one_of_them(self) -> SignIn:
        if (self.token is None) == (self.code is None):
            raise ValueError("give a token or a code, and not both")
        return self


class CodeExpiry(Answer):
    """The part of a code that is stored for retries. The code itself is a secret and is derived again."""

    expires_at: Utc = Field(description="when the code expires")


class OneTimeCode(CodeExpiry):
    """A code that opens one browser session."""

    code: str = Field(description="the code; send it to POST /api/v1/session, once")


class BrowserSession(Answer):
    """The caller's token and session."""

    name: str = Field(description="name of the token", examples=["admin"])
    scope: Scope = Field(description="scope of the token")
    expires_at: Utc | None = Field(description="when the session expires; null: a bearer token that does not expire")
    csrf_token: str | None = Field(
        description="send it as X-CSRF-Token with every request of this session, reads too; null for a bearer token"
    )
