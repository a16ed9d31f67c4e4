"""What a database needs before the workers start: the newest schema."""

from __future__ import annotations

from api.store.migrate import upgrade
from lanista.stack.home import Home


def bootstrap(database_url: str, home: Home) -> None:
    """Bring the schema up to date. Safe to run twice, and by two at once."""
    upgrade(database_url)
