"""Error handling for commands that open the database directly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lanista.stack.errors import NotRunning


@contextmanager
def explain_connection_errors() -> Iterator[None]:
    """Turns a refused database connection into one message with the next step."""
    from sqlalchemy.exc import OperationalError

    try:
        yield
    except OperationalError as error:
        reason = str(error.orig).strip().splitlines()[0]
        raise NotRunning(f"Postgres cannot be reached ({reason}). Is the stack running? `lanista status`") from None
