"""Tables and reports of tournaments, made once for what has been played so far."""

from __future__ import annotations

from dataclasses import dataclass

from api.schemas.reports import ReportLine, TournamentReport
from api.store.core.engine import Session
from api.store.tournaments.report_reads import report_state
from api.web.cache import KeptByState
from api.web.reports.tournament import tournament_report, tournament_table

MOST_KEPT = 16


@dataclass(frozen=True)
class Made:
    """A report, and its JSON: that of a large one has megabytes."""

    report: TournamentReport
    json: bytes


@dataclass(frozen=True, kw_only=True)
class MadeTable:
    """The standings alone, which are read far more often than the report and are made without reading a game."""

    status: str
    anchor: str
    leads: str
    lines: list[ReportLine]


class TournamentReports:
    """Keeps the tables and reports that are looked at: a large one reads tens of thousands of pairings."""

    def __init__(self) -> None:
        self._reports: KeptByState[Made] = KeptByState(MOST_KEPT)
        self._tables: KeptByState[MadeTable] = KeptByState(MOST_KEPT)

    def report(self, session: Session, tournament_id: str) -> Made:
        """The report of what has been played so far."""
        return self._reports.get(
            tournament_id, report_state(session, tournament_id), lambda: _made(session, tournament_id)
        )

    def table(self, session: Session, tournament_id: str) -> MadeTable:
        """The standings of what has been played so far."""
        return self._tables.get(
            tournament_id, report_state(session, tournament_id), lambda: _table(session, tournament_id)
        )


def _made(session: Session, tournament_id: str) -> Made:
    report = tournament_report(session, tournament_id)
    return Made(report, report.model_dump_json().encode())


def _table(session: Session, tournament_id: str) -> MadeTable:
    table = tournament_table(session, tournament_id)
    return MadeTable(status=table.tournament.status.value, anchor=table.anchor, leads=table.leads, lines=table.lines)
