"""The life of an order: checked, audited and reserved, sent; found again by a retry; released where it is refused."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi import Response
from pydantic import BaseModel

from api.web.changes import AuditLine, Reply
from api.web.orders.order import Order
from api.web.problems import ProblemError


class Done(BaseModel):
    by: str


class FakeChange:
    """Records what an order asks of its request; `reserved` is what an earlier request left."""

    services = None

    def __init__(self, *, reserved: bool = False) -> None:
        self.reserved = reserved
        self.log: list[str] = []

    def reserved_at(self) -> datetime | None:
        return datetime(2026, 1, 1, tzinfo=UTC) if self.reserved else None

    def reserve(self, audit: AuditLine) -> bool:
        self.log.append(f"reserve {audit.action}")
        first, self.reserved = not self.reserved, True
        return first

    def release(self, audit: AuditLine, reason: str) -> None:
        self.log.append(f"release {reason}")

    async def commit_after(
        self, prepare: Callable[[], Awaitable[Reply]], work: Callable[[Any, Reply], Reply]
    ) -> Response:
        return Response(work(None, await prepare()).now().body)


class FakeOrder(Order):
    def __init__(
        self, change: FakeChange, *, checked: int = 0, sent: int = 0, effects: tuple[str | None, ...] = ()
    ) -> None:
        super().__init__(change)  # type: ignore[arg-type]
        self.fake, self.checked, self.sent, self.effects = change, checked, sent, list(effects)

    def audit_line(self) -> AuditLine:
        return AuditLine(action="thing.do")

    def check(self) -> None:
        self.fake.log.append("check")
        if self.checked:
            raise ProblemError(self.checked, "impossible now")

    async def send(self) -> Reply:
        self.fake.log.append("send")
        if self.sent:
            raise ProblemError(self.sent, "not taken")
        return Reply(body=Done(by="sending"))

    def find_effect(self) -> Reply | None:
        effect = self.effects.pop(0) if self.effects else None
        return None if effect is None else Reply(body=Done(by=effect))


async def done_by(order: Order) -> str:
    return str(json.loads(bytes((await order.carry_out()).body))["by"])


async def test_an_order_is_checked_then_audited_then_sent() -> None:
    change = FakeChange()
    assert await done_by(FakeOrder(change)) == "sending"
    assert change.log == ["check", "reserve thing.do", "send"]


async def test_an_order_that_is_impossible_now_is_neither_audited_nor_sent() -> None:
    change = FakeChange()
    with pytest.raises(ProblemError, match="impossible now"):
        await FakeOrder(change, checked=409).carry_out()
    assert change.log == ["check"]


async def test_a_retry_finds_the_effect_of_the_first_request_and_sends_nothing() -> None:
    change = FakeChange(reserved=True)
    assert await done_by(FakeOrder(change, effects=("the first request",))) == "the first request"
    assert change.log == []


async def test_a_retry_without_an_effect_is_sent_again() -> None:
    change = FakeChange(reserved=True)
    assert await done_by(FakeOrder(change)) == "sending"


@pytest.mark.parametrize(("status", "released"), [(409, True), (503, False)])
async def test_the_key_is_released_unless_the_order_may_still_be_carried_out(status: int, released: bool) -> None:
    change = FakeChange()
    with pytest.raises(ProblemError, match="not taken"):
        await FakeOrder(change, sent=status).carry_out()
    assert ("release not taken" in change.log) is released


async def test_a_retry_that_is_refused_releases_nothing() -> None:
    change = FakeChange(reserved=True)
    with pytest.raises(ProblemError, match="not taken"):
        await FakeOrder(change, sent=409).carry_out()
    assert "release not taken" not in change.log


async def test_of_the_same_request_sent_twice_at_once_the_slower_finds_the_effect_of_the_quicker() -> None:
    change = FakeChange(reserved=True)
    assert await done_by(FakeOrder(change, checked=409, effects=(None, "the quicker one"))) == "the quicker one"
