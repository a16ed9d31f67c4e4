"""Decisions of the league: matchmaking plans, snapshots, resets, promotions."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.schemas.base import Answer, Utc
from league.types import DecisionKind


class Decision(Answer):
    """One decision: its verdict, the reason in a sentence, and the numbers behind it."""

    id: int = Field(description="its number", examples=[42])
    kind: DecisionKind = Field(description="what it is about")
    verdict: str = Field(description="what was decided", examples=["snapshot"])
    reason: str = Field(description="why, in a sentence")
    evidence: dict[str, Any] = Field(description="the numbers behind it; for a plan, every opponent")
    player_id: str | None = Field(description="the player it is about")
    player: str | None = Field(description="that player's name", examples=["main"])
    generation: int | None = Field(description="the generation it is about", examples=[12])
    attempt: int = Field(description="number of the plan; above 1 if the generation was planned again", examples=[1])
    version_id: str | None = Field(description="the version it is about")
    gate_id: str | None = Field(description="the gate that decided")
    commit: int | None = Field(description="the commit it belongs to", examples=[17])
    created_at: Utc = Field(description="when it was made")
