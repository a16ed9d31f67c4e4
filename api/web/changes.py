"""Changes: one transaction for the change, its audit entry and the response stored for its idempotency key.

See docs/decisions/rest-and-idempotency.md.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Request, Response
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from api.store.core.audit_log import add_audit_entry
from api.store.core.engine import Session
from api.store.core.idempotency import (
    RequestKey,
    StoredResponse,
    claim,
    find_response,
    release,
    reserve,
    reserved_at,
    store_response,
)
from api.web.auth.tokens import Principal
from api.web.services import Api, Services

Prepared = TypeVar("Prepared")
KeyHeader = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern="^[!-~]+$",
        description="an idempotency key of your choice, such as a UUID: requests that repeat it are carried out once, "
        "and a retry gets the first response",
        examples=["6f1f7c3e-9d0b-4b5e-8a55-0d6c1a3f2b10"],
    ),
]


@dataclass(frozen=True, kw_only=True)
class AuditLine:
    """A line for the audit log."""

    action: str
    target: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The response to a change, and the change's line for the audit log."""

    body: BaseModel | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    audit: AuditLine | None = None
    body_for_retries: BaseModel | None = None
    """The body for retries, if `body` contains a secret that must not be stored."""

    def now(self) -> StoredResponse:
        """The response that is sent now."""
        return self._with(self.body)

    def for_retries(self) -> StoredResponse:
        """The response that is stored for retries."""
        return self._with(self.body_for_retries or self.body)

    def _with(self, body: BaseModel | None) -> StoredResponse:
        content = b"" if body is None else body.model_dump_json().encode()
        return StoredResponse(status=self.status, headers=self.headers, body=content)


class ChangeCall:
    """One request that changes something."""

    def __init__(self, services: Services, principal: Principal, address: str | None, key: RequestKey | None) -> None:
        self.services = services
        self.principal = principal
        self._address = address
        self._key = key
        self.operation_id = str(uuid.uuid4()) if key is None else _digest(key)
        """Identifies the operation: the same id for every retry; a new one without an idempotency key."""

    async def commit(self, work: Callable[[Session], Reply]) -> Response:
        """Run the work in one transaction with its audit line and the response for retries; a retry runs nothing."""
        return _response(await run_in_threadpool(self._committed, work))

    async def commit_after(
        self, prepare: Callable[[], Awaitable[Prepared]], work: Callable[[Session, Prepared], Reply]
    ) -> Response:
        """Like `commit`, with the result of `prepare`, which runs outside any transaction and not for a retry."""
        stored = await run_in_threadpool(self._stored)
        if stored is None:
            prepared = await prepare()
            stored = await run_in_threadpool(self._committed, lambda session: work(session, prepared))
        return _response(stored)

    def audit(self, line: AuditLine) -> None:
        """Write a line at once, in a transaction of its own: what follows must not happen unrecorded."""
        with self.services.sessions.begin() as session:
            self._add_entry(session, line)

    def reserve(self, audit: AuditLine) -> bool:
        """Reserve the idempotency key and write the audit line in one transaction; False for a retry."""
        with self.services.sessions.begin() as session:
            first = self._key is None or reserve(session, self._key)
            if first:
                self._add_entry(session, audit)
            return first

    def reserved_at(self) -> datetime | None:
        """When the idempotency key was first reserved, if it was; the same for every retry."""
        if self._key is None:
            return None
        with self.services.sessions() as session:
            return reserved_at(session, self._key)

    def release(self, audit: AuditLine, reason: str) -> None:
        """Give up the idempotency key of an order that was refused, and write the refusal to the audit log."""
        with self.services.sessions.begin() as session:
            self._add_entry(session, replace(audit, detail={**audit.detail, "refused": reason}))
            if self._key is not None:
                release(session, self._key)

    def _committed(self, work: Callable[[Session], Reply]) -> StoredResponse:
        with self.services.sessions.begin() as session:
            if self._key is not None:
                stored = claim(session, self._key)
                if stored is not None:
                    return stored
            reply = work(session)
            if reply.audit is not None:
                self._add_entry(session, reply.audit)
            if self._key is not None:
                store_response(session, self._key, reply.for_retries())
            return reply.now()

    def _stored(self) -> StoredResponse | None:
        if self._key is None:
            return None
        with self.services.sessions() as session:
            return find_response(session, self._key)

    def _add_entry(self, session: Session, audit: AuditLine) -> None:
        add_audit_entry(
            session,
            token_id=self.principal.token_id,
            actor=self.principal.name,
            action=audit.action,
            target=audit.target,
            detail=audit.detail,
            remote_address=self._address,
        )


def _digest(key: RequestKey) -> str:
    words = "\n".join((key.token_id, key.method, key.path, key.key))
    return hashlib.sha256(words.encode()).hexdigest()


def _response(stored: StoredResponse) -> Response:
    media_type = "application/json" if stored.body else None
    return Response(stored.body, stored.status, stored.headers, media_type)


async def change_call(request: Request, services: Api, idempotency_key: KeyHeader = None) -> ChangeCall:
    """The dependency of every route that changes something; resolved after the route's scope."""
    principal: Principal = request.state.principal
    key = None
    if idempotency_key is not None:
        digest = hashlib.sha256(request.url.query.encode() + b"\n" + await request.body()).hexdigest()
        key = RequestKey(
            token_id=principal.token_id,
            method=request.method,
            path=request.url.path,
            key=idempotency_key,
            request_sha256=digest,
        )
    return ChangeCall(services, principal, request.client.host if request.client else None, key)


Change = Annotated[ChangeCall, Depends(change_call)]
