"""Ratings of a trial's versions.

To add a field: declare it in `Rating`; and, unless it is a column of the table `ratings`, select it in
`api/store/ratings/reads.py`. The JSON answer, the CSV file, the OpenAPI document and the Python client follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from api.schemas.base import Answer, Utc
from api.schemas.enums import RatingMethod

if TYPE_CHECKING:
    import pandas


class Fit(Answer):
    """The fit that the ratings belong to."""

    id: str = Field(description="its id")
    method: RatingMethod = Field(description="the rating method")
    games: int = Field(description="number of rating games", examples=[1200])
    last_match_id: int = Field(description="the newest of these games", examples=[5000])
    anchor_version_id: str | None = Field(description="the version whose rating is 0 by definition")
    tournament_id: str | None = Field(description="the tournament after which it was made")
    settings: dict[str, Any] = Field(
        description="options of the fit; with nash_averaging also the equilibrium, as `mixture`"
    )
    depends_on_order: bool = Field(
        description="true: updated game by game, for the live view; the same games in another order give other values"
    )
    created_at: Utc = Field(description="when it was made")


class Rating(Answer):
    """The rating of one version."""

    rank: int = Field(description="its rank among all versions of the fit", examples=[1])
    version_id: str = Field(description="the version")
    player_id: str = Field(description="its player")
    player: str = Field(description="the player's name", examples=["main"])
    number: int = Field(description="the version's number", examples=[12])
    steps: int = Field(description="environment steps its player was trained on until then", examples=[12_000_000])
    recorded_at: Utc | None = Field(None, description="when the version was recorded")
    value: float = Field(description="Elo above the anchor, or the method's own measure", examples=[212.5])
    deviation: float | None = Field(description="standard error against the anchor", examples=[14.2])
    low: float | None = Field(description="lower end of the 95 % interval against the anchor")
    high: float | None = Field(description="upper end of that interval")
    games: int = Field(description="its rating games", examples=[400])
    prior: bool = Field(description="true: only the stated prior keeps it finite")
    difference: float | None = Field(description="Elo above the version `against`; null without it", examples=[35.5])
    difference_low: float | None = Field(
        description="lower end of the difference's 95 % interval, from the full covariance"
    )
    difference_high: float | None = Field(description="upper end of that interval")
    label: str = Field("", description="player and version, as standings name it", examples=["main v12"])
    version_number: int | None = Field(None, description="the same as `number`", examples=[12])


class Ratings(Answer):
    """A page of ratings, and the fit they belong to."""

    fit: Fit | None = Field(description="null while there are no rating games")
    items: list[Rating] = Field(description="the ratings, the best first")
    next_cursor: str | None = Field(description="the cursor of the next page; null on the last one")

    def to_frame(self) -> pandas.DataFrame:
        """One row for each version; needs pandas."""
        from api.schemas.frames import frame_of

        return frame_of(Rating, self.items)
