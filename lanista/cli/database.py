"""Commands that go to the database itself, and what they say where it does not answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lanista.stack.errors import NotRunning


@contextmanager
def reached() -> Iterator[None]:
    """Around every use of the database: a refused connection is one clear line, with the next step."""
    from sqlalchemy.exc import OperationalError

    try:
        yield
    except OperationalError as error:
        reason = str(error.orig).strip().splitlines()[0]
        raise NotRunning(f"Postgres cannot be reached ({reason}). Is the stack running? `lanista status`") from None
