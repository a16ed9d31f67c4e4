"""The page on the data model names every table, and marks those that are append-only."""

from __future__ import annotations

import re
from pathlib import Path

from api.store.tables import Base
from tests.integration.store.test_guards import APPEND_ONLY

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "data-model.md"
ROW = re.compile(r"^\| `(?P<table>\w+)`(?P<mark> \+)? \|", re.MULTILINE)


def test_every_table_is_described_and_marked() -> None:
    described = {row["table"]: row["mark"] is not None for row in ROW.finditer(_table_of_tables())}
    assert described == {table: table in APPEND_ONLY for table in Base.metadata.tables}


def _table_of_tables() -> str:
    _, _, rest = PAGE.read_text().partition("| table | one row is |")
    return rest.partition("\n\n")[0]
