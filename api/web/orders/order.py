"""The base of every order: checked, audited, sent once for its idempotency key, and found again when it is retried.

See docs/decisions/rest-and-idempotency.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

from fastapi import Response
from starlette.concurrency import run_in_threadpool

from api.store.core.errors import Conflict, NotFound
from api.web.changes import AuditLine, ChangeCall, Reply
from api.web.problems import ProblemError


class Order(ABC):
    """A change that a workflow carries out. A subclass says what is checked, sent and audited.

    The order is audited before it is sent, so that a crash of the API cannot hide it, and its idempotency key is
    reserved in the same transaction. A retry whose first response was lost asks `find_effect` for the order's effect.
    """

    def __init__(self, change: ChangeCall) -> None:
        self.change = change
        self.services = change.services

    @abstractmethod
    def audit_line(self) -> AuditLine:
        """What the audit log says of the order."""

    @abstractmethod
    def check(self) -> None:
        """Raise ProblemError, Conflict or NotFound where the order is impossible now. Runs in a thread."""

    async def try_out(self) -> None:  # noqa: B027 (most orders have nothing to try)
        """Ask a worker whether what the order names can be used; raise ProblemError where it cannot."""

    @abstractmethod
    async def send(self) -> Reply:
        """Have the workflow carry out the order."""

    def find_effect(self) -> Reply | None:
        """The reply to a retry, if the order has taken effect. Runs in a thread."""
        return None

    @final
    async def carry_out(self) -> Response:
        """Check, audit and send the order; a retry gets the stored response, or the effect of the first request."""
        return await self.change.commit_after(self._carry_out, lambda session, reply: reply)

    async def _carry_out(self) -> Reply:
        effect = await run_in_threadpool(self._effect_of_an_earlier_request)
        if effect is not None:
            return effect
        try:
            await run_in_threadpool(self.check)
            await self.try_out()
            return await self._send_reserved()
        except (ProblemError, Conflict, NotFound):
            # the same request, sent twice at once, may have been carried out since
            effect = await run_in_threadpool(self._effect_of_an_earlier_request)
            if effect is None:
                raise
            return effect

    def _effect_of_an_earlier_request(self) -> Reply | None:
        return None if self.change.reserved_at() is None else self.find_effect()

    async def _send_reserved(self) -> Reply:
        reserved = await run_in_threadpool(self.change.reserve, self.audit_line())
        try:
            return await self.send()
        except ProblemError as refusal:
            # after a 5xx the order may still be carried out, so its key stays reserved
            if reserved and refusal.status < 500:
                await run_in_threadpool(self.change.release, self.audit_line(), refusal.detail)
            raise
