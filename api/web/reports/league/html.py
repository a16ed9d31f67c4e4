"""Writes the report of a league as one HTML file."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

from jinja2 import Environment, PackageLoader

from api.alerts.redaction import redacted
from api.store.core.records import Record
from api.web.reports.league.charts import MOST_LINES, payoff_map, rating_chart, rating_lines, short
from api.web.reports.league.contents import LeagueReport

SHOWN_PLAYERS = 100


def league_html(report: LeagueReport, *, shared_until: datetime | None = None) -> str:
    """The file; `shared_until`: it is shown by a link that ends then."""
    lines = rating_lines(report.ratings, report.players, report.resets)
    best: dict[str, Record] = {}
    for rating in report.ratings:
        best.setdefault(rating["player_id"], rating)
    players = sorted(report.players, key=lambda player: -(best.get(player["id"], {}).get("value") or -1e9))
    return (
        _templates()
        .get_template("league.html.j2")
        .render(
            report=report,
            trial=report.trial,
            rating_chart=rating_chart(lines),
            lines=lines[:MOST_LINES],
            more_lines=max(0, len(lines) - MOST_LINES),
            payoff_map=payoff_map(report.payoff),
            players=players[:SHOWN_PLAYERS],
            more_players=max(0, len(players) - SHOWN_PLAYERS),
            best=best,
            short=short,
            moment=_moment,
            redacted=redacted,
            shared_until=shared_until,
        )
    )


def link_ended() -> str:
    """What a link shows that is unknown, expired or revoked: the same for all three."""
    return _templates().get_template("link_ended.html.j2").render()


def _moment(when: datetime | None) -> str:
    return "–" if when is None else f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


@cache
def _templates() -> Environment:
    return Environment(loader=PackageLoader("api.web.reports"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
