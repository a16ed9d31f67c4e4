"""The payload codec: AES-256-GCM, bound to the payload's purpose.

What cannot be opened is not an error here: an exception would fail the whole workflow task, which Temporal repeats for
ever, and a stranger could halt a league with one signal. The codec marks it, and the payload converter refuses it
where it would be used.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec, SerializationContext, WithSerializationContext

from orchestrator.sealing.keys import KeyRing
from orchestrator.sealing.marks import Refusal, is_display_text, mark
from orchestrator.sealing.purpose import fits, from_bytes, may_open, purpose_of, to_bytes, use_of

ENCODING = b"binary/lanista-sealed"
NONCE_BYTES = 12


class SealingCodec(PayloadCodec, WithSerializationContext):
    """Seals payloads for the context that they are converted in, and opens those sealed for it."""

    def __init__(self, keys: KeyRing, context: SerializationContext | None = None) -> None:
        self._keys = keys
        self._context = context
        self._purpose = purpose_of(context)

    def with_context(self, context: SerializationContext) -> SealingCodec:
        return SealingCodec(self._keys, context)

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [payload if is_display_text(payload) else self._seal(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._open(payload) for payload in payloads]

    def _seal(self, payload: Payload) -> Payload:
        key = self._keys.sealing_key(use_of(self._context))
        purpose = to_bytes(self._purpose)
        nonce = os.urandom(NONCE_BYTES)
        return Payload(
            metadata={"encoding": ENCODING, "key": key.id.encode(), "for": purpose},
            data=nonce + key.cipher.encrypt(nonce, payload.SerializeToString(), purpose),
        )

    def _open(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != ENCODING:
            return mark(payload, Refusal.PLAIN)
        key = self._keys.find(payload.metadata.get("key", b"").decode(errors="replace"))
        if key is None:
            return mark(payload, Refusal.UNKNOWN_KEY)
        sealed_for = payload.metadata.get("for", b"")
        nonce, sealed = payload.data[:NONCE_BYTES], payload.data[NONCE_BYTES:]
        try:
            opened = Payload.FromString(key.cipher.decrypt(nonce, sealed, sealed_for))
        except (InvalidTag, ValueError):
            return mark(payload, Refusal.FORGED)
        if not may_open(key.use, self._context) or not fits(from_bytes(sealed_for), self._purpose):
            return mark(payload, Refusal.MISUSED)
        return opened
