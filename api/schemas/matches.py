"""Matches: recorded gating and rating games."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from api.schemas.base import Answer, Utc
from api.schemas.enums import MatchResult
from league.types import Stream


class MatchSummary(Answer):
    """One finished game, without its moves."""

    id: int = Field(description="its number", examples=[17])
    stream: Stream = Field(description="the kind of game: gating or rating")
    trial_id: str | None = Field(description="its trial; null for a tournament of the whole project")
    tournament_id: str | None = Field(description="its tournament")
    gate_id: str | None = Field(description="its gate")
    round: int = Field(description="the tournament's round, or the gate's batch", examples=[1])
    pair: int = Field(description="the pairing, or the pair of games with swapped teams", examples=[0])
    seat: int = Field(description="the first player's team; its seat where each seat is a team", examples=[0])
    seed: int = Field(description="seed of the game", examples=[9])
    player_id: str = Field(description="the first player")
    player: str = Field(description="the first player's name", examples=["main"])
    version_id: str = Field(description="the first player's version")
    version_number: int = Field(description="number of that version", examples=[12])
    opponent_id: str = Field(description="the second player")
    opponent: str = Field(description="the second player's name", examples=["mcts-100"])
    opponent_version_id: str = Field(description="the second player's version")
    opponent_version_number: int = Field(description="number of that version", examples=[0])
    result: MatchResult = Field(description="the result for the first player")
    plies: int = Field(description="number of moves", examples=[21])
    played_at: Utc = Field(description="when it was recorded")


class Match(MatchSummary):
    """One finished game."""

    moves: list[int] = Field(description="all actions in order, chance included", examples=[[3, 3]])
    opening: dict[str, Any] | None = Field(description="its opening; null: the usual start")
