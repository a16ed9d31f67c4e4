"""Engines: what URL is accepted, and what a connection survives."""

from __future__ import annotations

from datetime import UTC

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import OperationalError

from api.store.core.engine import create_store_engine, database_url, session_factory
from api.store.core.errors import InvalidDatabaseUrl


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_postgres_urls_get_the_driver(scheme: str) -> None:
    url = database_url(f"{scheme}://ada:secret@db:5432/lanista")
    assert url.render_as_string(hide_password=False) == (
        "postgresql+psycopg://ada:secret@db:5432/lanista?require_auth=scram-sha-256"
    )


@pytest.mark.parametrize("url", ["sqlite:///league.db", "postgresql+asyncpg://db/lanista", "mysql://db/lanista"])
def test_other_databases_and_drivers_are_refused_by_name(url: str) -> None:
    with pytest.raises(InvalidDatabaseUrl, match="allowed: postgresql://"):
        database_url(url)


def test_an_unreadable_url_is_refused_without_repeating_its_password() -> None:
    with pytest.raises(InvalidDatabaseUrl) as refused:
        database_url("ada:secret@db")
    assert "secret" not in str(refused.value)


def test_times_come_back_in_utc(postgres_url: str) -> None:
    engine = create_store_engine(postgres_url)
    with session_factory(engine)() as session:
        assert session.scalars(select(func.now())).one().tzinfo is not None
        assert session.scalars(select(func.now())).one().utcoffset() == UTC.utcoffset(None)
    engine.dispose()


def test_a_connection_cut_while_idle_is_replaced_unnoticed(postgres_url: str) -> None:
    engine = create_store_engine(postgres_url, pool_size=1, max_overflow=1)
    sessions = session_factory(engine)
    with sessions() as session:
        idle = session.scalar(text("SELECT pg_backend_pid()"))
    other = create_store_engine(postgres_url)
    with other.connect() as connection:
        connection.execute(text("SELECT pg_terminate_backend(:pid, 10000)"), {"pid": idle})
    other.dispose()
    with sessions() as session:
        assert session.scalar(text("SELECT pg_backend_pid()")) != idle
    engine.dispose()


def test_making_an_engine_connects_to_nothing() -> None:
    engine = create_store_engine("postgresql://ada@localhost:1/nowhere")
    with pytest.raises(OperationalError):
        engine.connect()
