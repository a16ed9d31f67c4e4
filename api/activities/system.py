"""The store worker's part of the system check."""

from __future__ import annotations

import time

from sqlalchemy import Engine, text
from temporalio import activity

from orchestrator import contracts
from orchestrator.contracts import PartReport, PartRequest


class SystemCheckActivities:
    """Checks the store queue and Postgres."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @activity.defn(name=contracts.check_store.name)
    def check_store(self, request: PartRequest) -> PartReport:
        """Read the server's version and the schema's revision in one transaction."""
        started = time.perf_counter()
        with self._engine.begin() as connection:
            version = connection.execute(text("SHOW server_version")).scalar_one()
            revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        return PartReport(
            part="store",
            detail=f"Postgres {version}, schema {revision}",
            milliseconds=(time.perf_counter() - started) * 1000,
        )
