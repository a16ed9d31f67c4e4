"""One running stack, shared by the tests that leave it whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.stack import LocalStack


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    local = LocalStack.at(tmp_path_factory.mktemp("stack"))
    started = local.up()
    assert started.returncode == 0, started.stdout + started.stderr
    yield local
    local.down()
