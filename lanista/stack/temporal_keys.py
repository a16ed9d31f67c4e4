"""The keys that seal what goes through Temporal: the user's settings, else secrets kept in the data folder."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import SecretStr

from lanista.settings import StackSettings
from lanista.stack.home import Home, write_atomically
from orchestrator.settings import TemporalSettings

LEAGUE_KEY, TRAIN_KEY, SEALED_SINCE = (
    "LANISTA_TEMPORAL_KEY",
    "LANISTA_TEMPORAL_TRAIN_KEY",
    "LANISTA_TEMPORAL_SEALED_SINCE",
)


class TemporalKeys:
    """Makes the keys on first use. Each process gets those that it needs, in its environment."""

    def __init__(self, settings: StackSettings, home: Home) -> None:
        self._settings = settings
        self._home = home

    def store_environment(self) -> dict[str, str]:
        """For the API and the store worker, which speak to every queue."""
        if not self._settings.temporal_sealed:
            return {}
        since = self._sealed_since()  # before the keys are made: it depends on whether there are any
        return {LEAGUE_KEY: self._key(LEAGUE_KEY), TRAIN_KEY: self._key(TRAIN_KEY), SEALED_SINCE: since}

    def train_environment(self) -> dict[str, str]:
        """For the train worker, which runs users' code: not the league's key."""
        if not self._settings.temporal_sealed:
            return {}
        since = self._sealed_since()
        return {LEAGUE_KEY: "", TRAIN_KEY: self._key(TRAIN_KEY), SEALED_SINCE: since}

    def connection(self, address: str) -> TemporalSettings:
        """Settings of a process of this user that speaks to the stack's Temporal."""
        values = self.store_environment()
        return TemporalSettings.load(
            temporal_address=address,
            temporal_key=values.get(LEAGUE_KEY),
            temporal_train_key=values.get(TRAIN_KEY),
        )

    def _key(self, name: str) -> str:
        league = name == LEAGUE_KEY
        chosen: SecretStr | None = self._settings.temporal_key if league else self._settings.temporal_train_key
        return chosen.get_secret_value() if chosen else self._home.secret(_file(name))

    def _sealed_since(self) -> str:
        """When sealing began, if this data folder was used before: empty where everything was always sealed."""
        if self._settings.temporal_sealed_since:
            return self._settings.temporal_sealed_since.isoformat()
        path = self._home.root / "temporal.sealed-since"
        if not path.exists() and not (self._home.root / _file(LEAGUE_KEY)).exists():
            was_used = self._home.temporal_db.exists() or bool(self._settings.temporal_address)
            write_atomically(path, datetime.now(UTC).isoformat() if was_used else "")
        return path.read_text().strip() if path.exists() else ""


def _file(name: str) -> str:
    return "temporal.key" if name == LEAGUE_KEY else "temporal-train.key"
