"""Single games, position by position: replays of recorded games, and games of a person against a version."""

from __future__ import annotations

from typing import Annotated, Any, Self
from uuid import UUID

from pydantic import Field, model_validator

from api.schemas.base import LARGEST, Answer, Body, Utc
from api.schemas.enums import MatchResult
from api.schemas.matches import MatchSummary

MOST_SIMULATIONS = 1000
"""The most simulations a move, or a position, while a person waits."""
MOST_NUMBERS = 1000
"""The most numbers of an action that a person may give."""


class Action(Answer):
    """One legal action."""

    action: int = Field(description="its number", examples=[3])
    name: str = Field(description="its name", examples=["d"])
    probability: float | None = Field(description="by the annotating version; null without one", examples=[0.42])
    searched: float | None = Field(
        default=None, description="by the annotating version's search; null without one", examples=[0.7]
    )


class ActionNumber(Answer):
    """One number of an action that is not Discrete."""

    low: float | None = Field(description="the least value; null: no bound", examples=[-2.0])
    high: float | None = Field(description="the greatest value; null: no bound", examples=[2.0])
    whole: bool = Field(description="whether it is a whole number")
    choices: list[int] = Field(description="the values allowed here; empty: all within the bounds")


class Position(Answer):
    """One position of a game."""

    ply: int = Field(description="number of moves before it", examples=[0])
    seats: list[int] = Field(description="the seats to act", examples=[[0]])
    actions: list[int] = Field(description="the actions they took; empty at the end", examples=[[3]])
    names: list[str] = Field(description="the names of those actions", examples=[["d"]])
    legal: list[list[Action]] = Field(description="the legal actions of each of those seats")
    returns: list[float] = Field(description="each seat's return so far", examples=[[0.0, 0.0]])
    value: float | None = Field(description="the annotating version's value for the first of those seats")
    searched_value: float | None = Field(
        default=None, description="the same by the annotating version's search; null without one"
    )
    teams: list[int] = Field(default=[], description="the team of each seat of the game", examples=[[0, 0, 1, 1]])
    simultaneous: bool = Field(default=False, description="whether all seats choose at once, so that none moves first")
    numbers: list[ActionNumber] = Field(
        default=[], description="the numbers of an action, in a person's game whose actions are not Discrete"
    )
    done: bool = Field(description="whether the game is over")
    text: str = Field(description="the position as text")
    svg: str = Field(description="the position as an SVG image")


class Replay(Answer):
    """A game, move by move."""

    match: MatchSummary = Field(description="the match")
    opening_plies: int = Field(default=0, description="how many of its first moves were drawn at random", examples=[4])
    notation: str = Field(description="the moves as one line of text", examples=["1. d e 2. d e"])
    positions: list[Position] = Field(description="every position, the last one included; with `first`, a part of them")
    next: int | None = Field(default=None, description="with `first`: where the next part begins; null at the end")


class StartingPosition(Body):
    """A position of a recorded game, from which another game is played on."""

    match_id: int | None = Field(default=None, strict=True, ge=1, le=LARGEST, description="a match", examples=[17])
    game_id: UUID | None = Field(default=None, description="or a person's finished game")
    moves: int = Field(strict=True, ge=0, le=2**31 - 1, description="how many of its actions are kept", examples=[6])

    @model_validator(mode="after")
    def _one_game(self) -> Self:
        if (self.match_id is None) == (self.game_id is None):
            raise ValueError("give either match_id or game_id: the recorded game whose position it is")
        return self


class NewGame(Body):
    """A game to start."""

    version_id: UUID = Field(description="the opponent: any version, including a bot's")
    seat: int = Field(default=0, strict=True, ge=0, le=63, description="the person's seat; seat 0 moves first")
    seed: int | None = Field(
        default=None, strict=True, ge=0, le=LARGEST, description="seed of the game; null: chosen by the server"
    )
    start: StartingPosition | None = Field(
        default=None, description="a recorded position to play on from, with that game's seed; null: the usual start"
    )
    sampled: bool | None = Field(
        default=None,
        strict=True,
        description="whether the opponent samples its moves or always takes its best; null: its best, but sampled "
        "where moves are hidden or made at once, and so must not be foreseen",
    )
    search: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=MOST_SIMULATIONS,
        description="simulations a move with which the opponent searches, and plays the best move found; null: its "
        "network alone",
        examples=[64],
    )


class PersonMove(Body):
    """The person's move."""

    action: int | None = Field(
        default=None, strict=True, ge=0, le=2**31 - 1, description="number of a legal action", examples=[3]
    )
    numbers: list[Annotated[float, Field(allow_inf_nan=False)]] | None = Field(
        default=None,
        max_length=MOST_NUMBERS,
        description="the numbers of an action that is not Discrete, one for each of the position's `numbers`",
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.action is None) == (self.numbers is None):
            raise ValueError("give either action or numbers: numbers where the position lists some, else action")
        return self


class Game(Answer):
    """A game between a person and a version."""

    id: str = Field(description="its id")
    version_id: str = Field(description="the opponent")
    seat: int = Field(description="the person's seat", examples=[0])
    search: int | None = Field(default=None, description="simulations a move of the opponent; null: its network alone")
    sampled: bool = Field(default=True, description="whether the opponent samples its moves or takes its best")
    start: dict[str, Any] | None = Field(
        default=None, description="the recorded position that it began with; null: the usual start"
    )
    result: MatchResult | None = Field(default=None, description="the person's result; null before the end")
    moves: list[int] = Field(description="all actions so far, of both sides", examples=[[3, 2]])
    answered: list[int] = Field(description="the opponent's actions since the person's last one", examples=[[2]])
    position: Position = Field(description="the position as the person sees it, with the legal actions")


class PeopleGameSummary(Answer):
    """A finished game of a person against a version. It counts in no rating and no payoff."""

    id: str = Field(description="its id")
    trial_id: str = Field(description="the trial of the version")
    player_id: str = Field(description="the version's player")
    player: str = Field(description="that player's name", examples=["main"])
    version_id: str = Field(description="the version that the person played against")
    version_number: int = Field(description="number of that version", examples=[12])
    seat: int = Field(description="the person's seat", examples=[0])
    result: MatchResult = Field(description="the person's result")
    plies: int = Field(description="number of moves", examples=[21])
    sampled: bool = Field(description="whether the version sampled its moves or took its best")
    search: int | None = Field(description="simulations a move of the version; null: its network alone")
    start: dict[str, Any] | None = Field(description="the recorded position that it began with; null: the usual start")
    mine: bool = Field(description="whether it was played with the token of this request")
    finished_at: Utc = Field(description="when it ended")


class PeopleCounts(Answer):
    """How the finished games of people against versions of a trial ended, for the people."""

    wins: int = Field(description="won by people", examples=[2])
    draws: int = Field(description="drawn", examples=[1])
    losses: int = Field(description="lost by people", examples=[7])


class PeopleReplay(Answer):
    """A person's finished game, move by move."""

    game: PeopleGameSummary = Field(description="the game")
    notation: str = Field(description="the moves as one line of text", examples=["1. d e 2. d e"])
    positions: list[Position] = Field(description="every position, the last one included; with `first`, a part of them")
    next: int | None = Field(default=None, description="with `first`: where the next part begins; null at the end")
