"""Exceptions of games.

GameError
├── BadGame          the game, its options or its seeds cannot be used; says what is allowed
└── IllegalAction    a player chose a move that the position does not allow
"""

from __future__ import annotations


class GameError(Exception):
    """Base of every error raised by a game."""


class BadGame(GameError, ValueError):
    """The game, its options or its seeds cannot be used."""


class IllegalAction(GameError, ValueError):
    """A player chose an action that is not legal in its position."""

    def __init__(self, game: str, table: int, seat: int, action: object, allowed: object) -> None:
        self.game, self.table, self.seat, self.action, self.allowed = game, table, seat, action, allowed
        super().__init__(f"{game}: seat {seat} at table {table} chose action {action}; legal there: {allowed}")

    def __reduce__(self) -> tuple[type[IllegalAction], tuple[str, int, int, object, object]]:
        """Pickled by its arguments: it must pass from a Ray actor to its driver."""
        return type(self), (self.game, self.table, self.seat, self.action, self.allowed)
