"""Fixtures of the store's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy.orm import Session, sessionmaker

from api.store.core.engine import create_store_engine, session_factory
from tests.integration.store.league import League


@pytest.fixture(scope="module")
def sessions(postgres_url: str) -> Iterator[sessionmaker[Session]]:
    """Sessions on the module's database."""
    engine = create_store_engine(postgres_url, pool_size=10)
    yield session_factory(engine)
    engine.dispose()


@pytest.fixture
def league(sessions: sessionmaker[Session]) -> League:
    """A new trial with players main, rival and random, before its first generation."""
    return League.found(sessions)
