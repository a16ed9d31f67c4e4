"""One running stack, shared by all tests: each finds it whole, whatever the test before did to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.stack import LocalStack


@pytest.fixture(scope="session")
def shared_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    local = LocalStack.at(tmp_path_factory.mktemp("stack"))
    yield local
    local.down()


@pytest.fixture
def stack(shared_stack: LocalStack) -> LocalStack:
    state = shared_stack.home.live_state()
    if state is None or not state.ready:
        started = shared_stack.up()
        assert started.returncode == 0, started.stdout + started.stderr
    return shared_stack
