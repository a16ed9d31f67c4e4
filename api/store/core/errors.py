"""The errors of the store:

StoreError
├── InvalidDatabaseUrl    the URL does not name a Postgres database
├── MigrationError        the schema cannot be migrated to the version this code needs
├── NotFound              no row has this id or name
├── Gone                  it was given up by retention
├── Conflict              the change contradicts what is already recorded
└── NotYet                a prerequisite is not finished: retry in a moment
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.exc import DataError, OperationalError, StatementError

__all__ = [
    "Conflict",
    "DataError",
    "Gone",
    "InvalidDatabaseUrl",
    "MigrationError",
    "NotFound",
    "NotYet",
    "OperationalError",
    "StatementError",
    "StoreError",
]


class StoreError(Exception):
    """Base class of the store's errors."""


class InvalidDatabaseUrl(StoreError):
    """The URL does not name a Postgres database."""


class MigrationError(StoreError):
    """The schema cannot be migrated to the version this code needs."""


class NotFound(StoreError):
    """No row has this id or name."""


class Gone(StoreError):
    """It was given up by retention."""


class Conflict(StoreError):
    """The change contradicts what is already recorded; `more` has fields for programs."""

    def __init__(self, message: str, **more: Any) -> None:
        super().__init__(message)
        self.more = more


class NotYet(StoreError):
    """A prerequisite is not finished: retry in a moment."""
