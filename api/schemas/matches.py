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
    moves_pruned_at: Utc | None = Field(
        default=None, description="when retention gave up its moves, so that it has no replay; null: they are kept"
    )


class Match(MatchSummary):
    """One finished game."""

    moves: list[int] | None = Field(
        description="all actions in order, chance included; null: they were pruned", examples=[[3, 3]]
    )
    opening: dict[str, Any] | None = Field(description="its opening; null: the usual start")


class Score(Answer):
    """Results from the first version's view, with the 95 % interval of its win rate (Wilson)."""

    wins: int = Field(description="games won by the first", examples=[12])
    draws: int = Field(description="games drawn", examples=[3])
    losses: int = Field(description="games lost by the first", examples=[5])
    games: int = Field(description="all of them", examples=[20])
    win_rate: float | None = Field(description="its points for each game; null without games", examples=[0.675])
    low: float = Field(description="lower end of its 95 % interval", examples=[0.46])
    high: float = Field(description="upper end of that interval", examples=[0.84])


class SeatScore(Score):
    """Results of the games in which the first version had this seat."""

    seat: int = Field(description="the first version's team; its seat where each seat is a team", examples=[0])


class OpeningScore(Score):
    """Results of the games that began with these moves."""

    opening: list[int] = Field(description="the random opening moves, by the game's action numbers", examples=[[3, 3]])
    seed: int = Field(description="seed of one of these games", examples=[9])
    seats: list[SeatScore] = Field(description="these games by the first version's seat")


class HeadToHead(Answer):
    """All recorded games of two versions against each other, by seat and by opening."""

    version_id: str = Field(description="the first version")
    opponent_version_id: str = Field(description="the second version")
    total: Score = Field(description="all games")
    seats: list[SeatScore] = Field(description="by the first version's seat")
    openings: list[OpeningScore] = Field(description="by opening, the most played first; at most 50")
    pruned: int = Field(
        default=0, description="games whose moves were pruned: in all of the above but the openings", examples=[0]
    )


class NamedOpening(Answer):
    """What people call the moves of an opening."""

    opening: list[int] = Field(description="the moves, by the game's action numbers", examples=[[3, 3]])
    names: list[str] = Field(description="their labels on the board, else the game's names", examples=[["4", "4"]])


class OpeningNames(Answer):
    """Names for the openings of two versions against each other."""

    items: list[NamedOpening] = Field(description="in the order of the results by opening")
