"""What can go wrong with a game.

GameError
├── BadGame          the game, its options or its seeds cannot be used; says what is allowed
└── IllegalAction    a player chose a move that the position does not allow
"""


class GameError(Exception):
    """Base of every error raised by a game."""


class BadGame(GameError, ValueError):
    """The game, its options or its seeds cannot be used."""


class IllegalAction(GameError, ValueError):
    """A seat chose an action that is not legal where it stands."""

    def __init__(self, game: str, table: int, seat: int, action: int, allowed: list[int]) -> None:
        self.table, self.seat, self.action, self.allowed = table, seat, action, allowed
        super().__init__(f"{game}: seat {seat} at table {table} chose action {action}; legal there: {allowed}")
