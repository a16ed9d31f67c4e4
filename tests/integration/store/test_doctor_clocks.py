"""`lanista doctor` compares the clock of Postgres with this machine's."""

from __future__ import annotations

import pytest

from lanista.checks import doctor
from lanista.stack.errors import StackError
from orchestrator import clock_skew


async def test_the_clock_of_this_machines_postgres_agrees(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"LANISTA_DATABASE_URL": postgres_url}
    assert "the clock of Postgres" in await doctor._clocks(environment)
    monkeypatch.setattr(clock_skew, "ALLOWED_SECONDS", -10.0)
    with pytest.raises(StackError, match="the clock of Postgres"):
        await doctor._clocks(environment)
