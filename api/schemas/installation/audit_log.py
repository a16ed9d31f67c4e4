"""The audit log of changes."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.schemas.base import Answer, Utc


class Entry(Answer):
    """One change, as an entry of the audit log."""

    id: int = Field(description="its number in the log", examples=[42])
    at: Utc = Field(description="when it was made")
    actor: str = Field(description="name of the token, or of the user on the command line", examples=["admin"])
    token_id: str | None = Field(description="the token")
    action: str = Field(description="what was done", examples=["trial.create"])
    target: str | None = Field(description="what was changed, as kind/id", examples=["trial/0198c5a2-..."])
    detail: dict[str, Any] = Field(description="parameters of the change", examples=[{"mode": "drain"}])
    remote_address: str | None = Field(description="address of the caller", examples=["127.0.0.1"])
