"""A cache of tournaments' standings and reports: a large one reads tens of thousands of pairings."""

from __future__ import annotations

from dataclasses import dataclass

from api.schemas.reports import ReportLine, TournamentReport
from api.store.core.engine import Session
from api.store.tournaments.report_reads import report_state
from api.web.cache import Cache
from api.web.reports.tournament import compute_standings, tournament_report
from api.web.responses.conditional import weak_etag

MAX_ENTRIES = 16


@dataclass(frozen=True)
class CachedReport:
    """A report, and its JSON: a large one's is megabytes long."""

    report: TournamentReport
    json: bytes
    etag: str
    """Made once: hashing megabytes for each reader would hold up all others."""


@dataclass(frozen=True, kw_only=True)
class CachedStandings:
    """The standings alone: they are read far more often than the report, and computed without reading a game."""

    status: str
    anchor: str
    leads: str
    lines: list[ReportLine]


class TournamentReports:
    """Standings and reports, each computed once for what has been played so far."""

    def __init__(self) -> None:
        self._reports = Cache[CachedReport](MAX_ENTRIES)
        self._standings = Cache[CachedStandings](MAX_ENTRIES)

    def report(self, session: Session, tournament_id: str) -> CachedReport:
        """The report of what has been played so far."""
        state = report_state(session, tournament_id)
        return self._reports.get(tournament_id, lambda: _report(session, tournament_id), state=state)

    def standings(self, session: Session, tournament_id: str) -> CachedStandings:
        """The standings of what has been played so far."""
        state = report_state(session, tournament_id)
        return self._standings.get(tournament_id, lambda: _standings(session, tournament_id), state=state)


def _report(session: Session, tournament_id: str) -> CachedReport:
    report = tournament_report(session, tournament_id)
    written = report.model_dump_json().encode()
    return CachedReport(report, written, weak_etag(written))


def _standings(session: Session, tournament_id: str) -> CachedStandings:
    table = compute_standings(session, tournament_id)
    return CachedStandings(
        status=table.tournament.status.value, anchor=table.anchor, leads=table.leads, lines=table.lines
    )
