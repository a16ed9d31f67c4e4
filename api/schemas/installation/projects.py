"""Projects: namespaces of trials and aliases."""

from __future__ import annotations

from pydantic import Field

from api.schemas.base import Answer, Body, Utc
from api.schemas.trials import NewPriority, NewQuota


class Project(Answer):
    """A namespace of trials and aliases."""

    id: str = Field(description="its id")
    name: str = Field(description="its name", examples=["connect-four"])
    priority: float = Field(default=1.0, description="weight among projects where crews are scarce", examples=[1.0])
    quota: int | None = Field(
        default=None, description="most generations of all its trials under way at once; null: no limit", examples=[16]
    )
    created_at: Utc = Field(description="when its first trial was created")
    trials: int = Field(description="number of its trials", examples=[3])
    running: int = Field(description="number of its running trials", examples=[1])


class ProjectChange(Body):
    """What to change of a project; what is null stays as it is."""

    priority: NewPriority | None = Field(
        default=None, description="its weight among projects where crews are scarce", examples=[3.0]
    )
    quota: NewQuota | None = Field(
        default=None, description="most generations of all its trials under way at once; 0: no limit", examples=[16]
    )
