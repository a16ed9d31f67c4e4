"""A tournament's standings and report: ratings with intervals, cross table, upsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from api.schemas.reports import CrossCell, ReportLine, TournamentReport
from api.store.core.engine import Session
from api.store.ratings.bradley_terry import ANCHOR
from api.store.tables import Tournament, TournamentEntrant
from api.store.tournaments.reads import get_tournament
from api.store.tournaments.report_reads import PairingRow
from api.store.tournaments.results import entrants_of, pairing_columns, results_of, standings_of
from api.web.reports.upsets import instructive_games, upsets
from league import tournaments as rules
from league.ratings import Ratings, bradley_terry
from league.tournaments.adaptive import tallies_of
from league.tournaments.lead import lead_of

RANDOM: Final = ANCHOR.removeprefix("bot:")


@dataclass(frozen=True, kw_only=True)
class ComputedStandings:
    """The standings, and the data they were computed from."""

    tournament: Tournament
    project: str
    field: Sequence[TournamentEntrant]
    pairings: Sequence[PairingRow]
    results: Sequence[rules.Result]
    ratings: Ratings
    lines: list[ReportLine]

    @property
    def games(self) -> int:
        return sum(line.games for line in self.lines) // 2

    @property
    def anchor(self) -> str:
        return self.field[int(self.ratings.anchor)].label

    @property
    def leads(self) -> str:
        return _leads(self.field, self.ratings) if self.games else "nothing has been played yet"


def compute_standings(session: Session, tournament_id: str) -> ComputedStandings:
    """The standings of what has been played so far, from the pairings alone."""
    tournament, project, *_ = get_tournament(session, tournament_id)
    field = entrants_of(session, tournament_id)
    pairings = pairing_columns(session, tournament_id)
    results = results_of(pairings, int(tournament.spec.get("games", 0)))
    ratings = _fit(field, results)
    return ComputedStandings(
        tournament=tournament,
        project=project,
        field=field,
        pairings=pairings,
        results=results,
        ratings=ratings,
        lines=_lines(field, standings_of(tournament, field, results), ratings),
    )


def tournament_report(session: Session, tournament_id: str) -> TournamentReport:
    """The report of what has been played so far."""
    table = compute_standings(session, tournament_id)
    tournament = table.tournament
    return TournamentReport(
        id=tournament.id,
        name=tournament.name,
        project=table.project,
        game=tournament.game,
        format=tournament.format.value,
        status=tournament.status.value,
        status_reason=tournament.status_reason,
        seed=tournament.seed,
        finished_at=tournament.finished_at,
        games=table.games,
        anchor=table.anchor,
        leads=table.leads,
        standings=table.lines,
        cross_table=_cross_table(table.results),
        upsets=upsets(table.field, table.pairings, table.ratings),
        instructive_games=instructive_games(session, tournament_id, table.field, table.pairings, table.ratings),
    )


def _fit(field: Sequence[TournamentEntrant], results: Sequence[rules.Result]) -> Ratings:
    anchor = next((each.number for each in field if each.label == RANDOM), field[0].number)
    return bradley_terry([str(each.number) for each in field], tallies_of(results), anchor=str(anchor))


def _lines(
    field: Sequence[TournamentEntrant], standings: Sequence[rules.Standing], ratings: Ratings
) -> list[ReportLine]:
    lines = []
    for standing in standings:
        entrant = field[int(standing.name)]
        elo, low, high = ratings.difference(standing.name, ratings.anchor)
        values = {name: value for name, value in vars(standing).items() if name != "name"}
        lines.append(
            ReportLine(
                **values,
                number=entrant.number,
                label=entrant.label,
                version_id=entrant.version_id,
                elo=elo,
                low=low,
                high=high,
                prior=standing.name in ratings.separable,
                withdrawn=entrant.withdrawn,
                value=elo,
            )
        )
    return lines


def _leads(field: Sequence[TournamentEntrant], ratings: Ratings) -> str:
    lead = lead_of(ratings)
    leader, rival = field[int(lead.leader)].label, field[int(lead.rival)].label
    words = f"{lead.elo:+.0f} Elo, 95 % interval {lead.low:+.0f} to {lead.high:+.0f}"
    if lead.sure:
        return f"{leader} leads the whole field by rating; nearest is {rival} ({words})"
    return f"{leader} has the highest rating, but is not ahead of {rival} by more than chance ({words})"


def _cross_table(results: Sequence[rules.Result]) -> list[CrossCell]:
    cells: dict[tuple[int, int], list[int]] = {}
    for result in results:
        if not result.was_played:
            continue
        first, second = int(result.pairing.first), int(result.pairing.second)
        counts = (result.wins, result.draws, result.losses)
        if first > second:
            first, second, counts = second, first, counts[::-1]
        cell = cells.setdefault((first, second), [0, 0, 0])
        for place, count in enumerate(counts):
            cell[place] += count
    return [
        CrossCell(first=first, second=second, wins=won, draws=drawn, losses=lost)
        for (first, second), (won, drawn, lost) in sorted(cells.items())
    ]
