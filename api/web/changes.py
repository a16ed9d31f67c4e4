"""Changes: one transaction for the change, its audit row and the answer kept under its Idempotency-Key."""

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
from api.store.core.errors import Conflict, NotFound
from api.store.core.idempotency import (
    KeptAnswer,
    RequestKey,
    begin_key,
    begun_at,
    claim_key,
    find_answer,
    keep_answer,
    release_key,
)
from api.web.auth.tokens import Principal
from api.web.problems import Refusal
from api.web.services import Api, Services

Found = TypeVar("Found")
KeyHeader = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern="^[!-~]+$",
        description="a word of your own (a UUID): the same request under the same key is carried out once, "
        "and its repetition gets the first answer",
        examples=["6f1f7c3e-9d0b-4b5e-8a55-0d6c1a3f2b10"],
    ),
]


@dataclass(frozen=True, kw_only=True)
class Audited:
    """A line for the audit log."""

    action: str
    target: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a change answers with, and what the audit log says of it."""

    body: BaseModel | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    audited: Audited | None = None
    repeated: BaseModel | None = None
    """What a repetition gets instead, where the body holds a secret that must not be kept."""

    def first(self) -> KeptAnswer:
        """What is sent now."""
        return self._with(self.body)

    def kept(self) -> KeptAnswer:
        """What is kept for a repetition."""
        return self._with(self.repeated or self.body)

    def _with(self, body: BaseModel | None) -> KeptAnswer:
        content = b"" if body is None else body.model_dump_json().encode()
        return KeptAnswer(status=self.status, headers=self.headers, body=content)


class ChangeCall:
    """One request that changes something."""

    def __init__(self, services: Services, principal: Principal, address: str | None, key: RequestKey | None) -> None:
        self.services = services
        self.principal = principal
        self._address = address
        self._key = key

    @property
    def once_id(self) -> str:
        """The same for every repetition of this request; a new one without an Idempotency-Key."""
        if self._key is None:
            return str(uuid.uuid4())
        words = "\n".join((self._key.token_id, self._key.method, self._key.path, self._key.key))
        return hashlib.sha256(words.encode()).hexdigest()

    async def commit(self, work: Callable[[Session], Answer]) -> Response:
        """Run the work in a transaction of its own; a repetition is answered without running it."""
        return _response(await run_in_threadpool(self._committed, work))

    async def order(
        self,
        audited: Audited,
        check: Callable[[], object],
        carry_out: Callable[[], Awaitable[Answer]],
        done_before: Callable[[], Answer | None] = lambda: None,
    ) -> Response:
        """Have a workflow carry out the change, once `check` has found nothing against it.

        It is audited before it is sent, so that no death of ours hides it, and with the audit row its key is marked as
        begun. A repetition whose first answer was lost asks `done_before` what the order has brought about since.
        """

        def seen() -> Answer | None:
            return None if self.begun_at() is None else done_before()

        async def ordered() -> Answer:
            done = await run_in_threadpool(seen)
            if done is not None:
                return done
            try:
                await run_in_threadpool(check)
                return await self._begun(audited, carry_out)
            except (Refusal, Conflict, NotFound):
                done = await run_in_threadpool(seen)  # the same request, sent twice at once, may have been quicker
                if done is None:
                    raise
                return done

        return await self.commit_after(ordered, lambda session, answer: answer)

    async def _begun(self, audited: Audited, carry_out: Callable[[], Awaitable[Answer]]) -> Answer:
        first = await run_in_threadpool(self._begin, audited)
        try:
            return await carry_out()
        except Refusal as refusal:
            if first and refusal.status < 500:  # else it may still be carried out
                await run_in_threadpool(self._release, audited, refusal.detail)
            raise

    async def commit_after(
        self, prepare: Callable[[], Awaitable[Found]], work: Callable[[Session, Found], Answer]
    ) -> Response:
        """Commit work that needs somebody's answer first, got outside any transaction; a repetition asks nobody."""
        kept = await run_in_threadpool(self._kept)
        if kept is None:
            found = await prepare()
            kept = await run_in_threadpool(self._committed, lambda session: work(session, found))
        return _response(kept)

    def _committed(self, work: Callable[[Session], Answer]) -> KeptAnswer:
        with self.services.sessions.begin() as session:
            if self._key is not None:
                before = claim_key(session, self._key)
                if before is not None:
                    return before
            answer = work(session)
            if answer.audited is not None:
                self._add_entry(session, answer.audited)
            if self._key is not None:
                keep_answer(session, self._key, answer.kept())
            return answer.first()

    def _kept(self) -> KeptAnswer | None:
        if self._key is None:
            return None
        with self.services.sessions() as session:
            return find_answer(session, self._key)

    def begun_at(self) -> datetime | None:
        """When the order under this key was first about to be sent, if it was; the same for every repetition."""
        if self._key is None:
            return None
        with self.services.sessions() as session:
            return begun_at(session, self._key)

    def _begin(self, audited: Audited) -> bool:
        with self.services.sessions.begin() as session:
            first = self._key is None or begin_key(session, self._key)
            if first:
                self._add_entry(session, audited)
            return first

    def _release(self, audited: Audited, reason: str) -> None:
        with self.services.sessions.begin() as session:
            self._add_entry(session, replace(audited, detail={**audited.detail, "refused": reason}))
            if self._key is not None:
                release_key(session, self._key)

    def _add_entry(self, session: Session, audited: Audited) -> None:
        add_audit_entry(
            session,
            token_id=self.principal.token_id,
            actor=self.principal.name,
            action=audited.action,
            target=audited.target,
            detail=audited.detail,
            remote_address=self._address,
        )


def _response(kept: KeptAnswer) -> Response:
    media_type = "application/json" if kept.body else None
    return Response(kept.body, kept.status, kept.headers, media_type)


async def change_call(request: Request, services: Api, idempotency_key: KeyHeader = None) -> ChangeCall:
    """The dependency of every route that changes something; comes after the route's scope."""
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
