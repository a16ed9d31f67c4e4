"""Hover texts fit every place where their term stands."""

from __future__ import annotations

import re
from pathlib import Path

from tests.unit.web.page_scripts import STATIC, evaluated


def test_a_term_with_several_senses_has_no_hover_text(tmp_path: Path) -> None:
    found = evaluated(
        tmp_path,
        'const { meaningOf } = await import("./page/core/glossary.js");'
        'return ["For", "Played for", "Gate", "Holder"].map((term) => meaningOf(term) ?? null);',
    )
    several, games, gate, holder = found
    assert several is None, "on System it is who waits, at shared links a note"
    assert games.startswith("Rating games")
    assert "under way" not in gate, "a gate of the past has the same heading"
    assert "alias" not in holder


def test_tables_of_games_name_what_they_were_played_for() -> None:
    for name in ("match_table", "recorded_games"):
        titles = re.findall(r'\["([^"]+)", \(', (STATIC / f"components/{name}.js").read_text())
        assert "Played for" in titles and "For" not in titles
