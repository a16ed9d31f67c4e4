"""Where the database and the artifacts of an installation are, for commands that open them directly."""

from __future__ import annotations

from pathlib import Path

from lanista.settings import StackSettings
from lanista.stack import control as remote
from lanista.stack.home import Home


def locations(settings: StackSettings) -> tuple[str, str]:
    """The database and the artifact store: those of the settings, else those of the local stack."""
    home = Home(settings.home)
    if settings.database_url is not None:
        return settings.database_url.get_secret_value(), settings.artifacts or str(Path(home.artifacts))
    environment = remote.reach(home)
    return environment["LANISTA_DATABASE_URL"], environment["LANISTA_ARTIFACTS"]
