"""Lanista's search attributes at a Temporal namespace: registering them, and knowing whether they can be used.

See docs/decisions/temporal.md.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

import structlog
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.common import TypedSearchAttributes
from temporalio.service import RPCError, RPCStatusCode

from orchestrator.contracts.workflow_labels import SEARCH_ATTRIBUTES

log = structlog.get_logger()

Result = TypeVar("Result")

RPC_TIMEOUT = timedelta(seconds=5)
LOOK_AGAIN = 60.0
"""Seconds after which missing attributes are looked up again: they may have been registered meanwhile."""


async def register_search_attributes(client: Client) -> bool:
    """Register what is missing; False, with a warning, where that is not possible. Safe to repeat."""
    try:
        missing = await missing_search_attributes(client)
        if missing:
            request = AddSearchAttributesRequest(
                namespace=client.namespace,
                search_attributes=dict.fromkeys(missing, IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD),
            )
            await client.operator_service.add_search_attributes(request, timeout=RPC_TIMEOUT)
    except (RPCError, RuntimeError) as error:  # RuntimeError is how the SDK says it cannot connect
        if isinstance(error, RPCError) and error.status is RPCStatusCode.ALREADY_EXISTS:
            return True  # another process registered them at the same moment
        log.warning(
            "search attributes are not registered; Temporal's Web UI shows memos only",
            namespace=client.namespace,
            attributes=[key.name for key in SEARCH_ATTRIBUTES],
            error=str(error),
        )
        return False
    return True


async def missing_search_attributes(client: Client) -> list[str]:
    """Lanista's attributes that the namespace lacks; raises RPCError."""
    answer = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace), timeout=RPC_TIMEOUT
    )
    keyword = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
    return [key.name for key in SEARCH_ATTRIBUTES if answer.custom_attributes.get(key.name) != keyword]


class SearchAttributeCheck:
    """Whether workflows may be started with Lanista's search attributes; asks again at intervals if not."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._usable: bool | None = None
        self._asked_at = 0.0
        self._lock = asyncio.Lock()

    async def call(
        self, attributes: TypedSearchAttributes, request: Callable[[TypedSearchAttributes], Awaitable[Result]]
    ) -> Result:
        """Make a request with the attributes, or without them where they cannot be used."""
        if not await self.usable():
            return await request(TypedSearchAttributes.empty)
        try:
            return await request(attributes)
        except RPCError as error:
            if not self._refused(error):
                raise
        return await request(TypedSearchAttributes.empty)

    async def usable(self) -> bool:
        """Whether all of them are registered; raises RPCError or RuntimeError while the server does not answer."""
        async with self._lock:
            stale = self._usable is False and time.monotonic() - self._asked_at > LOOK_AGAIN
            if self._usable is None or stale:
                self._usable = await self._ask()
                self._asked_at = time.monotonic()
            return self._usable

    def _refused(self, error: RPCError) -> bool:
        """Whether a request was refused for its search attributes; if so, they are left out for a while."""
        refused = error.status is RPCStatusCode.INVALID_ARGUMENT and "search attribute" in error.message.lower()
        if refused:
            self._usable, self._asked_at = False, time.monotonic()
            log.warning("Temporal refuses the search attributes; they are left out", error=error.message)
        return refused

    async def _ask(self) -> bool:
        try:
            missing = await missing_search_attributes(self._client)
        except RPCError as error:
            if error.status is RPCStatusCode.UNAVAILABLE:
                raise  # a start would fail as well
            return True  # they are tried, and a refused request is repeated without them
        if missing:
            log.warning("search attributes are missing; workflows are started with a memo only", missing=missing)
        return not missing
