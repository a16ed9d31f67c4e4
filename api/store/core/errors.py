"""What the store refuses, as one tree:

StoreError
├── InvalidDatabaseUrl    the URL does not name a Postgres database
├── MigrationError        the schema cannot be brought to the version this code needs
├── NotFound              a row that was asked for by id or name is not there
├── Conflict              the change contradicts what is already recorded
└── NotYet                what it rests on is under way: ask again in a moment
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.exc import DataError, OperationalError, StatementError

__all__ = [
    "Conflict",
    "DataError",
    "InvalidDatabaseUrl",
    "MigrationError",
    "NotFound",
    "NotYet",
    "OperationalError",
    "StatementError",
    "StoreError",
]


class StoreError(Exception):
    """Anything the store refuses."""


class InvalidDatabaseUrl(StoreError):
    """The URL does not name a Postgres database."""


class MigrationError(StoreError):
    """The schema cannot be brought to the version this code needs."""


class NotFound(StoreError):
    """A row that was asked for by id or name is not there."""


class Conflict(StoreError):
    """The change contradicts what is already recorded; `more` is what a program should know of that."""

    def __init__(self, message: str, **more: Any) -> None:
        super().__init__(message)
        self.more = more


class NotYet(StoreError):
    """What it rests on is under way: ask again in a moment."""
