"""What a tournament showed: standings with intervals, who beat whom, what surprised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from api.store.models import Match, Pairing, Tournament, TournamentEntrant
from api.store.models.words import MatchResult, PairingStatus
from api.store.queries.tournaments import get_tournament
from api.store.ratings import ANCHOR
from api.store.tournament_results import field_of, pairings_of, results_of
from league import tournaments as rules
from league.ratings import Ratings, bradley_terry
from league.tournaments.adaptive import tallies_of
from league.tournaments.leading import lead_of

MOST_UPSETS: Final = 10
MOST_GAMES: Final = 10
RANDOM: Final = ANCHOR.removeprefix("bot:")


class Part(BaseModel):
    """A piece of a report."""

    model_config = ConfigDict(frozen=True)


class ReportLine(Part):
    """One entrant."""

    rank: int = Field(description="by points, then Buchholz, then Sonneborn-Berger", examples=[1])
    number: int = Field(description="the entrant's number in the field", examples=[0])
    label: str = Field(description="what people call it", examples=["main v12"])
    version_id: str = Field(description="the version that played")
    points: float = Field(description="wins and half of the draws; a bye has its batch's points", examples=[31.5])
    games: int = Field(description="games played", examples=[40])
    wins: int = Field(description="games won", examples=[28])
    draws: int = Field(description="games drawn", examples=[7])
    losses: int = Field(description="games lost", examples=[5])
    byes: int = Field(description="rounds without an opponent", examples=[0])
    buchholz: float = Field(description="points of all opponents met", examples=[120.0])
    sonneborn_berger: float = Field(description="points of those beaten, half of those drawn with", examples=[88.5])
    elo: float = Field(description="Bradley-Terry over this tournament's games, the anchor at 0", examples=[212.0])
    low: float = Field(description="lower end of its 95 % interval against the anchor", examples=[150.0])
    high: float = Field(description="upper end", examples=[274.0])
    prior: bool = Field(description="held finite only by the stated prior (all won, all lost, or unconnected)")


class CrossCell(Part):
    """All games of two entrants, from the first one's view."""

    first: int = Field(description="number of the first", examples=[0])
    second: int = Field(description="number of the second", examples=[1])
    wins: int = Field(description="games the first won", examples=[11])
    draws: int = Field(description="games drawn", examples=[4])
    losses: int = Field(description="games the first lost", examples=[5])


class Upset(Part):
    """A pairing that the weaker side won."""

    round: int = Field(description="the round", examples=[2])
    pair: int = Field(description="the pairing in it", examples=[0])
    winner: str = Field(description="who won", examples=["main v3"])
    loser: str = Field(description="who was expected to", examples=["main v12"])
    score: float = Field(description="the winner's share of the points", examples=[0.65])
    expected: float = Field(description="what its rating promised", examples=[0.31])


class InstructiveGame(Part):
    """A game whose result nobody would have bet on."""

    match_id: int = Field(description="the match, for its replay", examples=[4711])
    round: int = Field(description="the round", examples=[2])
    pair: int = Field(description="the pairing in it", examples=[0])
    winner: str = Field(description="who won", examples=["random"])
    loser: str = Field(description="who lost", examples=["minimax-0.9"])
    expected: float = Field(description="the winner's expected score before the game", examples=[0.02])
    surprise_bits: float = Field(description="-log2 of that", examples=[5.6])
    plies: int = Field(description="its length", examples=[7])


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


def tournament_report(session: Session, tournament_id: str) -> TournamentReport:
    """The report of what has been played so far."""
    tournament, project, *_ = get_tournament(session, tournament_id)
    field = field_of(session, tournament_id)
    rows = pairings_of(session, tournament_id)
    results = results_of(rows, int(tournament.spec.get("games", 0)))
    ratings = _fit(field, results)
    lines = _lines(field, results, ratings)
    games = sum(line.games for line in lines) // 2
    return TournamentReport(
        id=tournament.id,
        name=tournament.name,
        project=project,
        game=tournament.game,
        format=tournament.format.value,
        status=tournament.status.value,
        status_reason=tournament.status_reason,
        seed=tournament.seed,
        finished_at=tournament.finished_at,
        games=games,
        anchor=field[int(ratings.anchor)].label,
        leads=_leads(field, ratings) if games else "nothing has been played yet",
        standings=lines,
        cross_table=_cross_table(results),
        upsets=_upsets(field, rows, ratings),
        instructive_games=_instructive(session, tournament, field, ratings),
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
        if result.pairing.is_bye:
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


def _upsets(field: Sequence[TournamentEntrant], rows: Sequence[Pairing], ratings: Ratings) -> list[Upset]:
    found = []
    for row in rows:
        if row.status is not PairingStatus.PLAYED or row.second is None:
            continue
        score = (row.wins + row.draws / 2) / row.games
        expected = ratings.expected_score(str(row.first), str(row.second))
        winner, loser = row.first, row.second
        if score < 0.5:
            winner, loser, score, expected = loser, winner, 1 - score, 1 - expected
        if score > 0.5 > expected:
            found.append(
                Upset(
                    round=row.round,
                    pair=row.pair,
                    winner=field[winner].label,
                    loser=field[loser].label,
                    score=score,
                    expected=expected,
                )
            )
    return sorted(found, key=lambda upset: upset.expected - upset.score)[:MOST_UPSETS]


def _instructive(
    session: Session, tournament: Tournament, field: Sequence[TournamentEntrant], ratings: Ratings
) -> list[InstructiveGame]:
    """The won games of largest surprise, one for each two that met and way it went, the longest of its kind."""
    numbers = {each.version_id: each.number for each in field}
    games = session.execute(
        select(
            Match.id, Match.round, Match.pair, Match.version_id, Match.opponent_version_id, Match.result, Match.plies
        )
        .where(Match.tournament_id == tournament.id, Match.result != MatchResult.DRAW)
        .ext(distinct_on(Match.version_id, Match.opponent_version_id, Match.result))
        .order_by(Match.version_id, Match.opponent_version_id, Match.result, Match.plies.desc(), Match.id)
    )
    found = []
    for match_id, round_, pair, version, opponent, result, plies in games:
        winner, loser = numbers[version], numbers[opponent]
        if result is MatchResult.LOSS:
            winner, loser = loser, winner
        expected = ratings.expected_score(str(winner), str(loser))
        if expected < 0.5:
            found.append(
                InstructiveGame(
                    match_id=match_id,
                    round=round_,
                    pair=pair,
                    winner=field[winner].label,
                    loser=field[loser].label,
                    expected=expected,
                    surprise_bits=-math.log2(max(expected, 1e-12)),
                    plies=plies,
                )
            )
    return sorted(found, key=lambda game: game.expected)[:MOST_GAMES]
