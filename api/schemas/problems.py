"""Problem documents: the answer to every request that fails."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class FieldProblem(BaseModel):
    """One invalid field."""

    field: str = Field(
        description="where the field is: body.spec.game.id, query.limit, ...", examples=["body.spec.game.id"]
    )
    message: str = Field(description="what is wrong and what is allowed", examples=["must be one of connect_four, ..."])


class Problem(BaseModel):
    """What went wrong (RFC 9457). Some problems have further fields, such as the present `trial_status`."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(default="about:blank", description="always about:blank: the status is the kind of problem")
    title: str = Field(description="the name of the status", examples=["Not Found"])
    status: int = Field(description="the HTTP status", examples=[404])
    detail: str = Field(description="what was wrong and what is allowed", examples=["there is no trial ..."])
    errors: list[FieldProblem] | None = Field(default=None, description="the invalid fields, where there are any")
