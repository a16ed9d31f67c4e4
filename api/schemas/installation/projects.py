"""Projects: namespaces of trials and aliases."""

from __future__ import annotations

from pydantic import Field

from api.schemas.base import Answer, Utc


class Project(Answer):
    """A namespace of trials and aliases."""

    id: str = Field(description="its id")
    name: str = Field(description="its name", examples=["connect-four"])
    created_at: Utc = Field(description="when its first trial was created")
    trials: int = Field(description="number of its trials", examples=[3])
    running: int = Field(description="number of its running trials", examples=[1])
