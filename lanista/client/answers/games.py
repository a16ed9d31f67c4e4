"""Games move by move: replays, and games against a version."""

from __future__ import annotations

from lanista.client.answers.league import MatchSummary
from lanista.client.answers.shape import Answer


class Action(Answer):
    """One legal action."""

    action: int
    name: str
    probability: float | None


class Position(Answer):
    """One position of a game."""

    ply: int
    seats: list[int]
    actions: list[int]
    names: list[str]
    legal: list[list[Action]]
    returns: list[float]
    value: float | None
    done: bool
    text: str
    svg: str


class Replay(Answer):
    """A game, move by move."""

    match: MatchSummary
    notation: str
    positions: list[Position]


class Game(Answer):
    """A game between a person and a version."""

    id: str
    version_id: str
    seat: int
    moves: list[int]
    answered: list[int]
    position: Position
