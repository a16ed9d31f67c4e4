"""The payoff of a league, as matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from api.schemas.base import Answer
from api.schemas.enums import RatingMethod
from league.types import Role

if TYPE_CHECKING:
    import pandas

PayoffStream = Literal["all", "training", "rating"]
Matrix = list[list[float | None]]
Counts = list[list[int]]


class PayoffPlayer(Answer):
    """The player of one row, and of the column with the same index."""

    id: str = Field(description="its id")
    name: str = Field(description="its name", examples=["main"])
    role: Role = Field(description="its role")
    status: str = Field(description="active or retired", examples=["active"])


class LineupResults(Answer):
    """Training results of a mixed line-up, a team that a learner shared with a mate; they are in nobody's payoff."""

    player_id: str = Field(description="the learner")
    player: str = Field(description="its name", examples=["main"])
    lineup_ids: list[str] = Field(description="the player in each seat of the team, in the order of the seats")
    lineup: list[str] = Field(description="their names", examples=[["main", "main-1"]])
    opponent_id: str | None = Field(description="the player in all other teams; null in games of one team")
    opponent: str | None = Field(description="its name", examples=["striker"])
    seat: int = Field(description="the number of the line-up's team", examples=[0])
    opponent_seat: int | None = Field(description="the number of the other team", examples=[1])
    games: int = Field(description="games of the line-up", examples=[120])
    wins: int = Field(description="games won")
    draws: int = Field(description="games drawn")
    losses: int = Field(description="games lost")
    win_rate: float | None = Field(description="(wins + draws / 2) / games; null in games of one team")
    low: float | None = Field(description="lower end of its 95 % interval")
    high: float | None = Field(description="upper end of its 95 % interval")
    mean_return: float | None = Field(description="the line-up's mean return per game")
    rating: float | None = Field(
        None,
        description="mu of the line-up as a competitor of its own; null in games of one team, and for line-ups that "
        "did not play lately",
        examples=[27.4],
    )
    deviation: float | None = Field(None, description="sigma of `rating`", examples=[1.9])
    opponent_rating: float | None = Field(None, description="mu of the opponent's whole team, by the same fit")
    opponent_deviation: float | None = Field(None, description="sigma of `opponent_rating`")
    rating_method: RatingMethod | None = Field(
        None,
        description="openskill where there is a rating: over training games, in the order of commits; not comparable "
        "with the ratings of whole teams",
    )


class Payoff(Answer):
    """Win rates and results of every pair of players: row against column."""

    trial_id: str = Field(description="the trial")
    stream: str = Field(description="which games are counted", examples=["all"])
    revision: int = Field(description="the commit that last changed the payoff", examples=[17])
    decay: float = Field(description="factor by which a game decays the weight of earlier games", examples=[0.99995])
    min_games: int = Field(description="with fewer games, a win rate counts as 0.5", examples=[8])
    players: list[PayoffPlayer] = Field(description="the players, in the order of rows and columns")
    win_rate: Matrix = Field(description="decayed win rate, the mean over teams; null where the two never met")
    low: Matrix = Field(description="lower end of its 95 % interval")
    high: Matrix = Field(description="upper end of its 95 % interval")
    wins: Counts = Field(description="games won, not decayed")
    draws: Counts = Field(description="games drawn, not decayed")
    losses: Counts = Field(description="games lost, not decayed")
    mean_return: Matrix = Field(
        description="the row player's mean return per game, decayed, the mean over teams; null where the two never met "
        "or their games were counted without returns"
    )

    def games(self, row: int, column: int) -> int:
        """How many games the two played, not decayed."""
        return self.wins[row][column] + self.draws[row][column] + self.losses[row][column]

    def to_frame(
        self, values: Literal["win_rate", "low", "high", "wins", "draws", "losses", "mean_return"] = "win_rate"
    ) -> pandas.DataFrame:
        """One of the matrices, with the players' names as rows and columns; needs pandas."""
        from api.schemas.frames import matrix_frame

        return matrix_frame([player.name for player in self.players], getattr(self, values))
