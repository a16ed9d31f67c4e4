"""What the league's rules refuse.

LeagueError
├── InvalidInput       a value outside what the rule allows (also a ValueError)
│   ├── UnknownPlayer  a player that the roster or the ratings do not hold
│   └── UnknownRule    a rule, format, weighting or option by a name nobody registered
└── NotConverged       a numerical method that ran out of iterations (also an ArithmeticError)
"""

from __future__ import annotations

from collections.abc import Iterable


class LeagueError(Exception):
    """Anything the league's rules refuse or cannot do."""


class InvalidInput(LeagueError, ValueError):
    """A value outside what the rule allows."""


class UnknownPlayer(InvalidInput):
    """A player that the roster or the ratings do not hold."""

    def __init__(self, player: object, where: str) -> None:
        super().__init__(f"unknown player {player!r}: not in {where}")


class UnknownRule(InvalidInput):
    """A name nobody registered; the message lists those that exist."""

    def __init__(self, kind: str, name: object, allowed: Iterable[str]) -> None:
        super().__init__(f"unknown {kind} {name!r}; allowed: {', '.join(sorted(allowed))}")


class NotConverged(LeagueError, ArithmeticError):
    """A numerical method that ran out of iterations."""
