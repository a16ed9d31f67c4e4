"""Whether the leader of a tournament is ahead of all others by more than chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from league.errors import InvalidInput
from league.ratings import Ratings


@dataclass(frozen=True, kw_only=True)
class Lead:
    """The leader and its closest rival, with the confidence interval of their difference in Elo."""

    leader: Any
    rival: Any
    elo: float
    low: float
    high: float
    level: float

    @property
    def sure(self) -> bool:
        """Whether the whole interval, and so that of every other rival, lies above zero."""
        return self.low > 0


def lead_of(ratings: Ratings, level: float = 0.95) -> Lead:
    """The lead of the highest rating over the rival with the smallest lower bound of the difference."""
    if len(ratings.names) < 2:
        raise InvalidInput(f"a lead needs a field of two or more, got {len(ratings.names)}")
    elos = ratings.elos()
    leader = max(ratings.names, key=lambda name: elos[name])
    others = [name for name in ratings.names if name != leader]
    rival = min(others, key=lambda name: ratings.difference(leader, name, level)[1])
    elo, low, high = ratings.difference(leader, rival, level)
    return Lead(leader=leader, rival=rival, elo=elo, low=low, high=high, level=level)
