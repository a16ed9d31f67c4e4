"""Exceptions of the league's rules.

LeagueError
├── InvalidInput       a value outside what the rule allows (also a ValueError)
│   ├── UnknownPlayer  a player that the roster or the ratings do not hold
│   └── UnknownRule    a rule, format, weighting or option whose name is not registered
└── NotConverged       a numerical method that ran out of iterations (also an ArithmeticError)
"""

from __future__ import annotations

from collections.abc import Iterable


class LeagueError(Exception):
    """Base of every error of the league's rules."""


class InvalidInput(LeagueError, ValueError):
    """A value outside what the rule allows."""


class UnknownPlayer(InvalidInput):
    """A player that the roster or the ratings do not hold."""

    def __init__(self, player: object, where: str) -> None:
        self.player, self.where = player, where
        super().__init__(f"unknown player {player!r}: not in {where}")

    def __reduce__(self) -> tuple[type[UnknownPlayer], tuple[object, str]]:
        return type(self), (self.player, self.where)


class UnknownRule(InvalidInput):
    """A name that is not registered; the message lists the registered names."""

    def __init__(self, kind: str, name: object, allowed: Iterable[str]) -> None:
        self.kind, self.name, self.allowed = kind, name, sorted(allowed)
        super().__init__(f"unknown {kind} {name!r}; allowed: {', '.join(self.allowed)}")

    def __reduce__(self) -> tuple[type[UnknownRule], tuple[str, object, list[str]]]:
        return type(self), (self.kind, self.name, self.allowed)


class NotConverged(LeagueError, ArithmeticError):
    """A numerical method that ran out of iterations."""
