"""Base classes of answers and request bodies, pages of lists, and field types that several resources share.

See docs/decisions/client-and-command-line.md.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from orchestrator.spec.values import NAME_PATTERN

Item = TypeVar("Item")

LARGEST = 2**53 - 1
"""The largest integer that every JSON reader keeps exact."""

Utc = Annotated[datetime, AfterValidator(lambda when: when.astimezone(UTC))]
"""A time in UTC, written as 2030-01-01T00:00:00Z."""
Name = Annotated[str, Field(pattern=NAME_PATTERN, description="1 to 63 lower-case letters, digits and hyphens")]
"""The name of a project, trial, player or schedule."""


class Answer(BaseModel):
    """Base of every answer. Frozen; fields that a newer server adds are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class Body(BaseModel):
    """Base of every request body. Unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Page(Answer, Generic[Item]):
    """One page of a list."""

    items: list[Item] = Field(description="the items of this page")
    next_cursor: str | None = Field(description="the cursor of the next page; null on the last one")
