"""The base of every answer."""

from __future__ import annotations

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

Item = TypeVar("Item")


class Answer(BaseModel):
    """Frozen; what a newer server says beyond this is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Page(Answer, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    next_cursor: str | None = None
