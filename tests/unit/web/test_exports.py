"""Names in exported files: a spreadsheet evaluates none, and a Markdown viewer makes no link of one."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from markdown_it import MarkdownIt

from api.schemas.reports import TournamentReport
from api.web.reports.formats import as_csv, as_html, as_markdown
from api.web.responses.csv_export import csv_download, without_formula

FORMULAS = ("=cmd|' /C calc'!A0", "+1+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-", "=", "-1.5x", "+-1")
NUMBERS = ("-1.5", "+3", "1e-5", "-2.5E+10", "0")
LINKS = (
    "[you won](javascript:alert(1))",
    "![x](javascript:alert(1))",
    "a](javascript:alert(1)) [b",
    "[a]\n\n[a]: javascript:alert(1)",
    "<javascript:alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "\\[x](data:text/html;base64,PHNjcmlwdD4=)",
    "`[x](vbscript:x)",
)


def line(label: str, rank: int) -> dict[str, Any]:
    counts = dict.fromkeys(("games", "wins", "draws", "losses", "byes"), 1)
    numbers = dict.fromkeys(("points", "buchholz", "sonneborn_berger", "elo", "low", "high"), -1.5)
    return {**counts, **numbers, "number": rank, "rank": rank, "label": label, "prior": False, "withdrawn": None}


def report(name: str) -> TournamentReport:
    """A report in which everything that a person can name has this name."""
    lines = [line(name, 1), line("other", 2)]
    upset = {"round": 1, "winner": name, "loser": name, "score": 1.0, "expected": 0.1}
    values = dict.fromkeys(TournamentReport.model_fields)
    values |= {"name": name, "project": name, "game": name, "leads": name, "anchor": name, "status_reason": name}
    values |= {"format": "swiss", "status": "completed", "games": 2, "seed": 1, "upsets": [], "cross_table": []}
    built = TournamentReport.model_construct(**{**values, "instructive_games": []})  # type: ignore[arg-type]
    fields = TournamentReport.model_fields
    line_type = fields["standings"].annotation.__args__[0]  # type: ignore[union-attr]
    upset_type = fields["upsets"].annotation.__args__[0]  # type: ignore[union-attr]
    return built.model_copy(
        update={
            "standings": [line_type.model_construct(version_id=name, **each) for each in lines],
            "upsets": [upset_type.model_construct(**upset)],
        }
    )


@pytest.mark.parametrize("text", FORMULAS)
def test_a_cell_that_begins_like_a_formula_gets_an_apostrophe(text: str) -> None:
    assert without_formula(text) == f"'{text}"
    rows = list(csv.DictReader(io.StringIO(as_csv(report(text)), newline="")))
    assert rows[0]["label"] == f"'{text}" and rows[0]["version_id"] == f"'{text}"
    assert rows[0]["elo"] == "-1.5", "numbers stay numbers"


@pytest.mark.parametrize("value", [*NUMBERS, -1.5, -3, None, True, "main", "a=b", ""])
def test_other_cells_stay_as_they_are(value: object) -> None:
    assert without_formula(value) == value


async def test_lists_are_escaped_too() -> None:
    answer = csv_download("x", ["name", "n", "detail"], [[{"name": "=1", "n": -2, "detail": {"a": "=1"}}]])
    written = b"".join([part async for part in answer.body_iterator])  # type: ignore[attr-defined]
    assert written == b'name,n,detail\r\n\'=1,-2,"{""a"":""=1""}"\r\n'


@pytest.mark.parametrize("name", LINKS)
def test_no_name_becomes_a_link_in_markdown_or_html(name: str) -> None:
    parser = MarkdownIt("commonmark").enable("table")
    tokens = [each for token in parser.parse(as_markdown(report(name))) for each in (token, *(token.children or ()))]
    assert len(tokens) > 50
    kinds = {token.type for token in tokens}
    assert not kinds & {"link_open", "image", "html_inline", "html_block"}, kinds
    assert "<a " not in as_html(report(name)) and "<img" not in as_html(report(name))


def test_a_name_stays_legible() -> None:
    rendered = MarkdownIt("commonmark").enable("table").render(as_markdown(report("[a] | `b` \\ c")))
    assert "[a] | `b` \\ c" in rendered
