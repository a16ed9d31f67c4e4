"""Aliases: movable names of versions, such as `champion`."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from api.schemas.base import Answer, Body, Utc
from api.schemas.enums import AliasMove

Reason = Annotated[str, Field(min_length=1, max_length=500, pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")]


class Alias(Answer):
    """A movable name of a version."""

    name: str = Field(description="the name", examples=["champion"])
    game: str = Field(description="its game", examples=["connect_four"])
    version_id: str = Field(description="the version it points at")
    revision: int = Field(description="number of its moves; the ETag", examples=[3])
    moved_at: Utc = Field(description="when it was last moved")


class Move(Answer):
    """One move of an alias."""

    revision: int = Field(description="the alias's revision after it", examples=[3])
    move: AliasMove = Field(description="promoted by a gate, set by a user, or rolled back")
    from_version_id: str | None = Field(description="the version it pointed at before")
    to_version_id: str = Field(description="the version it pointed at after the move")
    reason: str = Field(description="why it was moved", examples=["beat the champion in a match"])
    actor: str = Field(description="name of the token, user or rule that moved it", examples=["admin"])
    gate_id: str | None = Field(description="the gate that moved it")
    tournament_id: str | None = Field(description="the tournament that moved it")
    evidence: dict[str, Any] = Field(description="the numbers behind the move")
    created_at: Utc = Field(description="when it was moved")


class PutAlias(Body):
    """The version to point an alias at."""

    version_id: UUID = Field(description="the version")
    reason: Reason = Field(
        description="why; kept in the alias's history and in the audit log", examples=["beat the champion in a match"]
    )


class Rollback(Body):
    """The reason for a rollback."""

    reason: Reason = Field(
        default="rolled back by an operator", description="why; kept in the alias's history and in the audit log"
    )
