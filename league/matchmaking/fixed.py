"""Fixed opponents: the learner becomes a best response to given frozen players, and never meets itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from league.errors import InvalidInput
from league.matchmaking.mixture import Mixture, Share
from league.matchmaking.roster import Request
from league.matchmaking.self_play import fallback
from league.types import Role
from league.validation import options_from


@dataclass(frozen=True, kw_only=True)
class FixedOptions:
    """Shares of games by the names of frozen players and bots; none: all of them alike."""

    shares: Mapping[str, float] = field(default_factory=dict)


def fixed(request: Request) -> Mixture:
    """The given shares of frozen players and bots, whatever the results are."""
    options = options_from(FixedOptions, request.options, "fixed")
    players = request.players
    allowed = np.concatenate([players.historical, players.of_role(Role.BOT)])
    names = {players.members[place].called: place for place in allowed.tolist()}
    shares = dict(options.shares) or dict.fromkeys(names, 1.0)
    if not shares:
        return fallback(request, "fixed", "frozen players or bots")
    missing = sorted(set(shares) - set(names))
    if missing:
        have = ", ".join(sorted(names)) or "none"
        raise InvalidInput(f"fixed needs {', '.join(missing)} as a frozen player or a bot; these are: {have}")
    total = sum(shares.values())
    if min(shares.values()) < 0 or total <= 0:
        raise InvalidInput("the shares of fixed must not be negative, and one must be above 0")
    share = Share(
        branch="fixed",
        positions=np.array([names[name] for name in shares], dtype=np.intp),
        probabilities=np.array([each / total for each in shares.values()]),
    )
    return Mixture.of(request, "fixed", [share])
