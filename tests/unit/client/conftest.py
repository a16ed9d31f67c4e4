"""Every test that asks for a caller holds for both clients."""

from __future__ import annotations

import pytest

from tests.unit.client.fake_api import Caller


@pytest.fixture(params=["blocking", "asynchronous"])
def caller(request: pytest.FixtureRequest) -> Caller:
    return Caller(request.param)
