"""Games of a person against a version."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from api.schemas.base import LARGEST, Answer, Body
from api.schemas.replays import Position


class NewGame(Body):
    """A game to start."""

    version_id: UUID = Field(description="the opponent: any version, including a bot's")
    seat: int = Field(default=0, strict=True, ge=0, le=63, description="the person's seat; seat 0 moves first")
    seed: int | None = Field(
        default=None, strict=True, ge=0, le=LARGEST, description="seed of the game; null: chosen by the server"
    )
    sampled: bool = Field(
        default=True, strict=True, description="whether the opponent samples its moves or always takes its best"
    )


class PersonMove(Body):
    """The person's move."""

    action: int = Field(strict=True, ge=0, le=2**31 - 1, description="number of a legal action", examples=[3])


class Game(Answer):
    """A game between a person and a version."""

    id: str = Field(description="its id")
    version_id: str = Field(description="the opponent")
    seat: int = Field(description="the person's seat", examples=[0])
    moves: list[int] = Field(description="all actions so far, of both sides", examples=[[3, 2]])
    answered: list[int] = Field(description="the opponent's actions since the person's last one", examples=[[2]])
    position: Position = Field(description="the position as the person sees it, with the legal actions")
