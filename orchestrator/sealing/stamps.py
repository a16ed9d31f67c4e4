"""Stamps on calls: a header that proves that Lanista made this very call.

A sealed argument alone is not enough. Some calls have no argument, and every local user can read sealed payloads from
the server and send them again. A stamp is a MAC over what is called: the kind of call, the workflow and the name.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass

from temporalio.api.common.v1 import Payload

from orchestrator.sealing.errors import NotSealed, UnknownKey
from orchestrator.sealing.keys import Key, KeyRing, KeyUse, use_of_queue

HEADER = "lanista-stamp"
_ENCODING = b"binary/lanista-stamp"

Headers = Mapping[str, Payload]


@dataclass(frozen=True)
class Call:
    """What a stamp is made for."""

    use: KeyUse
    parts: tuple[str, ...]

    @classmethod
    def start(cls, namespace: str, workflow_id: str, workflow_type: str) -> Call:
        return cls(KeyUse.LEAGUE, ("start", namespace, workflow_id, workflow_type))

    @classmethod
    def signal(cls, namespace: str, workflow_id: str, name: str) -> Call:
        return cls(KeyUse.LEAGUE, ("signal", namespace, workflow_id, name))

    @classmethod
    def update(cls, namespace: str, workflow_id: str, name: str, update_id: str) -> Call:
        return cls(KeyUse.LEAGUE, ("update", namespace, workflow_id, name, update_id))

    @classmethod
    def activity(cls, namespace: str, caller: tuple[str, str], queue: str, name: str) -> Call:
        """`caller`: id and run of the workflow, or an empty string and the id of an activity without a workflow."""
        return cls(use_of_queue(queue), ("activity", namespace, *caller, queue, name))


class Stamps:
    """Makes and checks stamps."""

    def __init__(self, keys: KeyRing) -> None:
        self._keys = keys

    def add(self, headers: Headers, call: Call) -> dict[str, Payload]:
        """The headers with the call's stamp."""
        key = self._keys.sealing_key(call.use)
        stamp = Payload(metadata={"encoding": _ENCODING, "key": key.id.encode()}, data=_mac(key, call))
        return {**headers, HEADER: stamp}

    def check(self, headers: Headers, *calls: Call) -> None:
        """Raise NotSealed unless the headers have the stamp of one of these calls, UnknownKey if that is not known."""
        stamp = headers.get(HEADER)
        what = " ".join(calls[0].parts[:1] + calls[0].parts[2:])
        if stamp is None:
            raise NotSealed(f"a call is refused, because it has no stamp: {what}")
        key = self._keys.find(stamp.metadata.get("key", b"").decode(errors="replace"))
        if key is None:
            raise UnknownKey(f"a call has the stamp of a key that this process does not have: {what}")
        for call in calls:
            if key.use is call.use and hmac.compare_digest(stamp.data, _mac(key, call)):
                return
        raise NotSealed(f"a call is refused, because its stamp is not for it: {what}")


def _mac(key: Key, call: Call) -> bytes:
    return hmac.digest(key.stamp_secret, json.dumps(call.parts).encode(), "sha256")
