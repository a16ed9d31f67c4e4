"""Recorded games of outside processes: every step and reply of a session."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.schemas.base import Answer, Utc


class RecordedGame(Answer):
    """One recorded game, without its steps."""

    id: str = Field(description="its id; later games have greater ones", examples=["1794945600000-0f3a9c1e"])
    session: str = Field(description="the name that the game gave its session", examples=["match-17"])
    started_at: Utc = Field(description="when it began")
    seconds: float = Field(description="how long it took", examples=[12.5])
    ticks: int = Field(description="number of ticks", examples=[340])
    size: int = Field(description="bytes of the file", examples=[51_208])
    players: list[str] = Field(
        description="who played each seat; empty where the game played it by itself", examples=[["main:12", ""]]
    )
    returns: list[float] = Field(description="the result of each seat; empty if there is none", examples=[[1.0, -1.0]])
    aborted: str = Field(description="why there is no result; empty if there is one")
    cut: bool = Field(description="whether steps are missing at the end, because the game was too large")
    info: dict[str, Any] = Field(
        description="what its agents were told: player, generation, purpose, ...", examples=[{"purpose": "training"}]
    )
