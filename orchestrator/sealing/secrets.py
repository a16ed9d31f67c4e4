"""Seals secrets that are stored and needed in clear text again, such as those that sign an alert's messages."""

from __future__ import annotations

import os

from cryptography.exceptions import InvalidTag

from orchestrator.sealing.errors import UnknownKey
from orchestrator.sealing.keys import KeyRing, KeyUse

NONCE_BYTES = 12
ID_BYTES = 8


def seal_secret(keys: KeyRing, secret: bytes, purpose: str) -> bytes:
    """The secret, encrypted with the key of the store and bound to its purpose: the row that it belongs to."""
    key = keys.sealing_key(KeyUse.LEAGUE)
    nonce = os.urandom(NONCE_BYTES)
    return bytes.fromhex(key.id) + nonce + key.vault.encrypt(nonce, secret, purpose.encode())


def open_secret(keys: KeyRing, sealed: bytes, purpose: str) -> bytes:
    """The secret; UnknownKey where this process lacks its key, or it was sealed for something else."""
    key = keys.find(sealed[:ID_BYTES].hex())
    if key is None or key.use is not KeyUse.LEAGUE:
        raise UnknownKey("sealed with a key that LANISTA_TEMPORAL_KEY does not hold")
    nonce, rest = sealed[ID_BYTES : ID_BYTES + NONCE_BYTES], sealed[ID_BYTES + NONCE_BYTES :]
    try:
        return key.vault.decrypt(nonce, rest, purpose.encode())
    except InvalidTag:
        raise UnknownKey("damaged, or sealed for something else") from None
