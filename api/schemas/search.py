"""The search over names."""

from __future__ import annotations

from pydantic import Field

from api.schemas.base import Answer
from api.schemas.enums import SearchKind


class Found(Answer):
    """Something that the search found."""

    kind: SearchKind = Field(description="what it is", examples=["player"])
    id: str = Field(description="its id")
    name: str = Field(description="its name", examples=["main-3"])
    within: str = Field(description="where it belongs: project, or project and trial", examples=["games/first-league"])
    detail: str = Field(description="status, role or game", examples=["historical"])


class SearchResults(Answer):
    """What the search found: trials, players, versions, tournaments and sweeps, in this order."""

    items: list[Found] = Field(description="the best of each kind")
