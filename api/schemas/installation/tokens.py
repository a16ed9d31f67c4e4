"""API tokens."""

from __future__ import annotations

from pydantic import Field

from api.schemas.base import Answer, Body, Utc
from api.schemas.enums import Scope


class NewToken(Body):
    """A token to create."""

    name: str = Field(
        min_length=1, max_length=100, pattern=r"^[!-~]+( [!-~]+)*$", description="what it is for", examples=["ci"]
    )
    scope: Scope = Field(
        default=Scope.VIEWER,
        description="viewer reads, operator runs trials of names in the catalog, code also runs code by module:attr, "
        "admin manages tokens",
    )
    expires_in_days: float | None = Field(
        default=None, strict=True, ge=0.001, le=3650, description="days until it expires; null: never", examples=[90]
    )


class Token(Answer):
    """A token, without its secret."""

    id: str = Field(description="its id")
    name: str = Field(description="what it is for", examples=["ci"])
    scope: Scope = Field(description="its scope")
    created_at: Utc = Field(description="when it was created")
    expires_at: Utc | None = Field(description="when it expires; null: never")
    revoked_at: Utc | None = Field(description="when it was revoked")
    last_used_at: Utc | None = Field(description="when it was last used, to the minute")


class MadeToken(Token):
    """A new token, with its secret."""

    token: str | None = Field(description="the secret, shown only once; null in the answer to a repeated request")
