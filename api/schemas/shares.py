"""Shared links: read-only reports of one trial or tournament, for people without a token."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from api.schemas.base import Answer, Body, Utc


class NewShare(Body):
    """A link to create: to a trial or to a tournament."""

    trial_id: UUID | None = Field(default=None, description="the trial to show")
    tournament_id: UUID | None = Field(default=None, description="the tournament to show")
    expires_in_days: float = Field(
        default=7.0, strict=True, ge=0.01, le=365, description="days until the link ends", examples=[7]
    )
    note: str = Field(
        default="",
        max_length=200,
        pattern=r"^[^\x00-\x1f]*$",
        description="for whom it is",
        examples=["the reading group"],
    )


class Share(Answer):
    """A link, without its secret."""

    id: str = Field(description="its id")
    trial_id: str | None = Field(description="the trial that it shows")
    tournament_id: str | None = Field(description="the tournament that it shows")
    name: str = Field(description="the name of what it shows", examples=["first-league"])
    note: str = Field(description="for whom it is")
    created_by: str = Field(description="the name of the token that made it", examples=["admin"])
    created_at: Utc = Field(description="when it was made")
    expires_at: Utc = Field(description="when it ends")
    revoked_at: Utc | None = Field(description="when it was revoked")
    opened: int = Field(description="how often it was opened", examples=[3])
    last_opened_at: Utc | None = Field(description="when it was last opened")


class MadeShare(Share):
    """A new link, with its secret."""

    path: str | None = Field(
        description="the address below the API's own, shown only once; null in the answer to a repeated request",
        examples=["/shared?link=lanista_share_..."],
    )
    url: str | None = Field(description="the whole address; null where LANISTA_PUBLIC_URL is not set")
