"""The formats of a tournament's report besides JSON: CSV, Markdown, HTML."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from functools import cache

from jinja2 import Environment, PackageLoader

from api.alerts.redaction import redacted
from api.schemas.reports import CrossCell, ReportLine, TournamentReport
from api.web.responses.csv_export import without_formula

COLUMNS = (
    *("rank", "label", "points", "games", "wins", "draws", "losses", "byes"),
    *("buchholz", "sonneborn_berger", "elo", "low", "high", "prior", "withdrawn", "version_id", "value"),
)


def as_csv(report: TournamentReport) -> str:
    """The standings as CSV, one line per entrant."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for line in report.standings:
        writer.writerow([without_formula(getattr(line, column)) for column in COLUMNS])
    return text.getvalue()


def as_markdown(report: TournamentReport) -> str:
    """The report as Markdown, for a pull request or a notebook."""
    return _render("tournament.md.j2", report, _in_markdown)


def as_html(report: TournamentReport) -> str:
    """The report as a single HTML file without scripts."""
    return _render("tournament.html.j2", report, str)


def _render(template: str, report: TournamentReport, words: Callable[[str], str]) -> str:
    cells = {(cell.first, cell.second): cell for cell in report.cross_table}
    return (
        _templates()
        .get_template(template)
        .render(
            report=report,
            words=words,
            redacted=redacted,
            elo=lambda line: _elo(line),
            cell=lambda line, other: _cell(cells, line, other),
        )
    )


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("api.web.reports"),
        autoescape=lambda name: bool(name and name.endswith(".html.j2")),  # noqa: S701 on for HTML
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _elo(line: ReportLine) -> str:
    mark = " (prior)" if line.prior else ""
    return f"{line.elo:+.0f} [{line.low:+.0f}, {line.high:+.0f}]{mark}"


def _cell(cells: dict[tuple[int, int], CrossCell], line: ReportLine, other: ReportLine) -> str:
    """Wins, draws and losses of the row against the column; empty where they did not meet."""
    if (line.number, other.number) in cells:
        cell = cells[line.number, other.number]
        return f"{cell.wins}/{cell.draws}/{cell.losses}"
    if (other.number, line.number) in cells:
        cell = cells[other.number, line.number]
        return f"{cell.losses}/{cell.draws}/{cell.wins}"
    return ""


def _in_markdown(text: str) -> str:
    """Escaped, so that a name can neither break a table nor be a link, which could be a `javascript:` one."""
    return " ".join(re.sub(r"([\\|`\[\]])", r"\\\1", text).replace("<", "&lt;").splitlines())
