"""Every test that asks for a caller holds for both clients."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lanista.cli import connection
from lanista.client import Client
from lanista.client.local import ApiAddress
from tests.unit.client.fake_api import NO_WAITING, URL, Caller, FakeApi, Reply


@pytest.fixture(params=["blocking", "asynchronous"])
def caller(request: pytest.FixtureRequest) -> Caller:
    return Caller(request.param)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeApi]:
    """Has commands talk to a fake API that gives these replies."""

    def start(*replies: Reply) -> FakeApi:
        api = FakeApi(*replies)
        monkeypatch.setattr(connection, "find_api", lambda **_: ApiAddress(URL, "secret"))
        monkeypatch.setattr(connection, "Client", lambda where, **_: Client(where, retries=NO_WAITING, transport=api))
        return api

    return start
