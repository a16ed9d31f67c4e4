"""The sealing keys: their names, their purposes, and the one that a process seals with."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from orchestrator.contracts.queues import Queue
from orchestrator.sealing.errors import UnknownKey
from orchestrator.settings import TemporalSettings


class KeyUse(StrEnum):
    """What a key is for. Train workers run users' code and have only the key of their own queues."""

    LEAGUE = "league"
    """Workflows, and activities of the store worker."""
    TRAIN = "train"
    """Activities of the train worker: their arguments, heartbeats and results."""

    @property
    def setting(self) -> str:
        """The environment variable that holds the keys of this use."""
        return "LANISTA_TEMPORAL_KEY" if self is KeyUse.LEAGUE else "LANISTA_TEMPORAL_TRAIN_KEY"


TRAIN_QUEUES = frozenset({Queue.TRAIN, Queue.PLAY, Queue.INTERACTIVE})


def use_of_queue(queue: str | None) -> KeyUse:
    """The use of the key that seals activities of this task queue."""
    return KeyUse.TRAIN if queue in TRAIN_QUEUES else KeyUse.LEAGUE


@dataclass(frozen=True, kw_only=True)
class Key:
    """One key, derived from a secret and its use."""

    id: str
    """Names the key without telling it."""
    use: KeyUse
    cipher: AESGCM = field(repr=False)
    stamp_secret: bytes = field(repr=False)
    vault: AESGCM = field(repr=False)
    """Seals secrets that are stored (see secrets.py)."""

    @classmethod
    def derive(cls, secret: str, use: KeyUse) -> Key:
        def part(label: str) -> bytes:
            return hmac.digest(secret.encode(), f"lanista temporal {use} {label}".encode(), "sha256")

        return cls(
            id=part("id").hex()[:16],
            use=use,
            cipher=AESGCM(part("payload")),
            stamp_secret=part("stamp"),
            vault=AESGCM(part("vault")),
        )


class KeyRing:
    """The keys of a process. Of each use the first key seals, and all of them open."""

    def __init__(self, secrets: Mapping[KeyUse, Sequence[str]]) -> None:
        keys = {use: [Key.derive(secret, use) for secret in texts] for use, texts in secrets.items()}
        self._first = {use: found[0] for use, found in keys.items() if found}
        self._by_id = {key.id: key for found in keys.values() for key in found}

    @classmethod
    def from_settings(cls, settings: TemporalSettings) -> KeyRing:
        return cls({KeyUse.LEAGUE: settings.league_secrets, KeyUse.TRAIN: settings.train_secrets})

    def has(self, use: KeyUse) -> bool:
        return use in self._first

    def sealing_key(self, use: KeyUse) -> Key:
        """The key to seal with; raises UnknownKey where this process has none."""
        try:
            return self._first[use]
        except KeyError:
            raise UnknownKey(f"{use.setting} is not set: this process cannot seal what is for {use}") from None

    def find(self, key_id: str) -> Key | None:
        return self._by_id.get(key_id)
