"""A whole league at one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

    from api.schemas.aliases import Alias
    from api.schemas.payoff import Payoff
    from api.schemas.players import Player
    from api.schemas.ratings import Rating, Ratings
    from api.schemas.trials import Trial


@dataclass(frozen=True, kw_only=True)
class League:
    """Trial, players, payoff, ratings and aliases, read one after the other."""

    trial: Trial
    players: Sequence[Player]
    payoff: Payoff
    ratings: Ratings
    aliases: Sequence[Alias]
    returns: Mapping[str, float] = field(default_factory=dict)
    """The mean return of each learning player's newest generation, by player id."""

    @property
    def has_opponents(self) -> bool:
        """Whether players have met: in games of one seat or one team only returns say how good they are."""
        return any(games for row in (*self.payoff.wins, *self.payoff.draws, *self.payoff.losses) for games in row)

    def rating_of(self, player: Player) -> Rating | None:
        """The rating of the player's newest rated version."""
        rated = [rating for rating in self.ratings.items if rating.player_id == player.id]
        return max(rated, key=lambda rating: rating.number, default=None)

    def aliases_of(self, player: Player) -> list[str]:
        """The aliases that point at the player's present version."""
        return [alias.name for alias in self.aliases if alias.version_id == player.version_id]

    names_of = aliases_of
    """The earlier name."""

    def to_frame(self) -> pandas.DataFrame:
        """One row for each player, with its rating; needs pandas."""
        from lanista.client.frames import league_frame

        return league_frame(self)
