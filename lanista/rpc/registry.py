"""The league's records for the gRPC services Policy and Parameters, over the REST API."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress

from api.schemas.versions import Version
from lanista.client.asynchronous import AsyncClient
from lanista.client.calls.composed import is_id
from lanista.client.errors import LanistaError, NoSuchName, NotAllowed, NotSignedIn, Problem
from workers.gateway.contract import Refused
from workers.gateway.rpc.registry import VersionRef

LOOK_AGAIN_SECONDS = 60.0
"""An alias is looked up again after this long even without an event."""
PAUSE_SECONDS = 2.0
"""Between attempts to reach an API that does not answer."""

_log = logging.getLogger(__name__)


class ClientRegistry:
    """Versions and aliases by a client of the REST API. An alias without a project is one of `project`."""

    def __init__(self, client: AsyncClient, project: str = "default") -> None:
        self._client, self._project = client, project
        self._moved = asyncio.Event()
        """Set once when an alias has moved, and then replaced."""
        self._listener: asyncio.Task[None] | None = None

    async def find(self, model: str) -> VersionRef:
        alias = self._alias(model)
        with refusals():
            found = await self._client.find_version(alias or model)
        return _ref(found, alias)

    async def checkpoint(self, version: VersionRef) -> bytes:
        with refusals():
            return await self._client.checkpoint(version.id)

    async def follow(self, model: str) -> AsyncIterator[VersionRef]:
        last = await self.find(model)
        yield last
        if not last.alias:
            await asyncio.Event().wait()  # a version id never changes: wait until cancelled
        if self._listener is None:
            self._listener = asyncio.ensure_future(self._listen())
        while True:
            moved = self._moved  # read before `find`, so that no move is missed
            try:
                found = await self.find(model)
            except Refused as refused:
                if refused.status < 500:
                    raise
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            if found.id != last.id:
                last = found
                yield found
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(moved.wait(), LOOK_AGAIN_SECONDS)

    async def publish(self, *, trial: str, name: str, like: str | None, data: bytes) -> VersionRef:
        with refusals():
            found = await self._client.find_trial(trial)
            return _ref(await self._client.import_weights(found, name=name, data=data, like=like), "")

    async def close(self) -> None:
        """Stop listening for moves."""
        if self._listener is not None:
            self._listener.cancel()
            with suppress(asyncio.CancelledError):
                await self._listener

    def _alias(self, model: str) -> str:
        """`project@alias` where the name is an alias, else nothing."""
        if "@" in model:
            return model
        return "" if is_id(model) or "/" in model else f"{self._project}@{model}"

    async def _listen(self) -> None:
        while True:
            try:
                async for event in self._client.events():
                    if event.type == "alias.moved":
                        self._wake()
            except LanistaError as error:
                _log.warning("moves of aliases cannot be followed for now: %s", error)
            await asyncio.sleep(PAUSE_SECONDS)
            self._wake()  # an event may have been missed meanwhile

    def _wake(self) -> None:
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()


@contextmanager
def refusals() -> Iterator[None]:
    """What the REST API says, as a refusal of the gRPC call."""
    try:
        yield
    except NoSuchName as error:
        raise Refused(404, str(error)) from error
    except NotSignedIn as error:
        raise Refused(503, f"this server is not signed in at the REST API: {error}") from error
    except NotAllowed as error:
        raise Refused(403, f"this server's token does not suffice: {error}") from error
    except Problem as error:
        status = 409 if error.status == 412 else 503 if error.status >= 500 else error.status
        raise Refused(status, str(error)) from error
    except LanistaError as error:
        raise Refused(503, str(error), retry_after=PAUSE_SECONDS) from error


def _ref(version: Version, alias: str) -> VersionRef:
    if version.sha256 is None:
        raise Refused(409, f"{version.player} is a bot and has no weights")
    return VersionRef(
        id=version.id,
        player=version.player,
        number=version.number,
        steps=version.steps,
        sha256=version.sha256,
        origin=str(version.origin),
        alias=alias,
    )
