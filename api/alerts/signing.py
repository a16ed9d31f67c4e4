"""Signs webhooks as the Standard Webhooks specification says, so that its libraries verify them.

The signature is HMAC-SHA256 over `id.timestamp.body`, in base64, with the bytes behind `whsec_`.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    """A new secret of 256 random bits."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def secret_bytes(secret: str) -> bytes:
    """The bytes of a secret; ValueError if it is none."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if not secret.startswith(PREFIX) or not 24 <= len(key) <= 64:
        raise ValueError(f"a secret is {PREFIX} and the base64 of 24 to 64 bytes")
    return key


def signed_headers(secret: str, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The headers that let a receiver check that a message is ours, fresh and complete."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.digest(secret_bytes(secret), signed, "sha256")
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
