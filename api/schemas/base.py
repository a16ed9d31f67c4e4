"""The base of everything the API answers with."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict


class Shape(BaseModel):
    """Read from rows, and frozen."""

    model_config = ConfigDict(from_attributes=True, frozen=True)


Utc = Annotated[datetime, AfterValidator(lambda when: when.astimezone(UTC))]
"""A time in UTC, as 2030-01-01T00:00:00Z."""


class Body(BaseModel):
    """The base of everything that is sent to the API: what it does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)
