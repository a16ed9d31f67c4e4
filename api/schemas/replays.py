"""Positions of a game, and the replay of a recorded one."""

from __future__ import annotations

from pydantic import Field

from api.schemas.base import Answer
from api.schemas.matches import MatchSummary


class Action(Answer):
    """One legal action."""

    action: int = Field(description="its number", examples=[3])
    name: str = Field(description="its name", examples=["d"])
    probability: float | None = Field(description="by the annotating version; null without one", examples=[0.42])


class Position(Answer):
    """One position of a game."""

    ply: int = Field(description="number of moves before it", examples=[0])
    seats: list[int] = Field(description="the seats to act", examples=[[0]])
    actions: list[int] = Field(description="the actions they took; empty at the end", examples=[[3]])
    names: list[str] = Field(description="the names of those actions", examples=[["d"]])
    legal: list[list[Action]] = Field(description="the legal actions of each of those seats")
    returns: list[float] = Field(description="each seat's return so far", examples=[[0.0, 0.0]])
    value: float | None = Field(description="the annotating version's value for the first of those seats")
    done: bool = Field(description="whether the game is over")
    text: str = Field(description="the position as text")
    svg: str = Field(description="the position as an SVG image")


class Replay(Answer):
    """A game, move by move."""

    match: MatchSummary = Field(description="the match")
    notation: str = Field(description="the moves as one line of text", examples=["1. d e 2. d e"])
    positions: list[Position] = Field(description="every position, the last one included")
