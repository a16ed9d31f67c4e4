"""Fixtures of the integration tests."""

from tests.integration.postgres import (
    empty_postgres_url,
    fresh_postgres_url,
    postgres_server,
    postgres_template,
    postgres_url,
)

__all__ = ["empty_postgres_url", "fresh_postgres_url", "postgres_server", "postgres_template", "postgres_url"]
