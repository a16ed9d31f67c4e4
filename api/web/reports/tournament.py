"""What a tournament showed: standings with intervals, who beat whom, what surprised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pydantic import Field

from api.store.core.engine import Session
from api.store.ratings.bradley_terry import ANCHOR
from api.store.tables import Tournament, TournamentEntrant
from api.store.tournaments.reads import get_tournament
from api.store.tournaments.report_reads import PairingRow
from api.store.tournaments.results import field_of, pairing_columns, results_of
from api.web.reports.upsets import InstructiveGame, Part, Upset, instructive_games, upsets
from league import tournaments as rules
from league.ratings import Ratings, bradley_terry
from league.tournaments.adaptive import tallies_of
from league.tournaments.leading import lead_of

RANDOM: Final = ANCHOR.removeprefix("bot:")


class ReportLine(Part):
    """One entrant."""

    rank: int = Field(description="by points, then Buchholz, then Sonneborn-Berger", examples=[1])
    number: int = Field(description="the entrant's number in the field", examples=[0])
    label: str = Field(description="what people call it", examples=["main v12"])
    version_id: str = Field(description="the version that played")
    points: float = Field(
        description="wins and half of the draws; a bye or a walkover has its batch's points", examples=[31.5]
    )
    games: int = Field(description="games played", examples=[40])
    wins: int = Field(description="games won", examples=[28])
    draws: int = Field(description="games drawn", examples=[7])
    losses: int = Field(description="games lost", examples=[5])
    byes: int = Field(description="rounds without an opponent, also where that one was withdrawn", examples=[0])
    buchholz: float = Field(description="points of all opponents met", examples=[120.0])
    sonneborn_berger: float = Field(description="points of those beaten, half of those drawn with", examples=[88.5])
    elo: float = Field(description="Bradley-Terry over this tournament's games, the anchor at 0", examples=[212.0])
    low: float = Field(description="lower end of its 95 % interval against the anchor", examples=[150.0])
    high: float = Field(description="upper end", examples=[274.0])
    prior: bool = Field(description="held finite only by the stated prior (all won, all lost, or unconnected)")
    withdrawn: str | None = Field(
        description="why it takes part no longer; null: it does", examples=["its checkpoint is damaged"]
    )


class CrossCell(Part):
    """All games of two entrants, from the first one's view."""

    first: int = Field(description="number of the first", examples=[0])
    second: int = Field(description="number of the second", examples=[1])
    wins: int = Field(description="games the first won", examples=[11])
    draws: int = Field(description="games drawn", examples=[4])
    losses: int = Field(description="games the first lost", examples=[5])


class TournamentReport(Part):
    """A tournament, whole."""

    id: str = Field(description="its id")
    name: str = Field(description="its name", examples=["nightly"])
    project: str = Field(description="its project", examples=["connect-four"])
    game: str = Field(description="what was played", examples=["connect_four"])
    format: str = Field(description="who met whom", examples=["swiss"])
    status: str = Field(description="completed, or why not all was played", examples=["completed"])
    status_reason: str | None = Field(description="in words")
    seed: int = Field(description="source of its pairings and games", examples=[7])
    finished_at: datetime | None = Field(description="when it ended")
    games: int = Field(description="games played", examples=[480])
    anchor: str = Field(description="who stands at 0 Elo", examples=["random"])
    leads: str = Field(description="whether the first leads everyone else by more than chance, in words")
    standings: list[ReportLine] = Field(description="best first")
    cross_table: list[CrossCell] = Field(description="every two that met")
    upsets: list[Upset] = Field(description="largest first")
    instructive_games: list[InstructiveGame] = Field(description="largest surprise first")


@dataclass(frozen=True, kw_only=True)
class Table:
    """The standings, and what they were reckoned from."""

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


def tournament_table(session: Session, tournament_id: str) -> Table:
    """The standings of what has been played so far, without looking at a single game."""
    tournament, project, *_ = get_tournament(session, tournament_id)
    field = field_of(session, tournament_id)
    pairings = pairing_columns(session, tournament_id)
    results = results_of(pairings, int(tournament.spec.get("games", 0)))
    ratings = _fit(field, results)
    return Table(
        tournament=tournament,
        project=project,
        field=field,
        pairings=pairings,
        results=results,
        ratings=ratings,
        lines=_lines(field, results, ratings),
    )


def tournament_report(session: Session, tournament_id: str) -> TournamentReport:
    """The report of what has been played so far."""
    table = tournament_table(session, tournament_id)
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


def _lines(field: Sequence[TournamentEntrant], results: Sequence[rules.Result], ratings: Ratings) -> list[ReportLine]:
    lines = []
    for standing in rules.standings([str(each.number) for each in field], results):
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
            )
        )
    return lines


def _leads(field: Sequence[TournamentEntrant], ratings: Ratings) -> str:
    lead = lead_of(ratings)
    leader, rival = field[int(lead.leader)].label, field[int(lead.rival)].label
    words = f"{lead.elo:+.0f} Elo, 95 % interval {lead.low:+.0f} to {lead.high:+.0f}"
    if lead.sure:
        return f"{leader} leads the whole field; nearest is {rival} ({words})"
    return f"{leader} is first, but not ahead of {rival} by more than chance ({words})"


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
