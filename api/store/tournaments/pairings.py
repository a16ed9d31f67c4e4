"""Plans the pairings of a tournament from the results so far, and records the games of each pairing once.

See docs/decisions/tournaments.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, MatchResult, PairingStatus, TournamentStatus
from api.schemas.events import PairingPlayed, TournamentStarted
from api.store.core.clock import now
from api.store.core.commits import lock_trial, take_commit
from api.store.core.errors import Conflict, NotFound
from api.store.core.events import NewEvent, append_events
from api.store.matches.scoring import Contest, count_distinct_games, match_row, results_by_team, score_games
from api.store.payoffs.cells import CellKey, sum_by_cell, update_payoff
from api.store.tables import Match, ModelVersion, Pairing, Player, Tally, Tournament, TournamentEntrant, Trial
from api.store.tournaments.lifecycle import lock_tournament, tournament_payload
from api.store.tournaments.results import entrants_of, next_pairings, pairings_of, results_of, spec_of_tournament
from league import tournaments as rules
from league.seeds import derived_seed
from league.types import Stream
from orchestrator.catalog import game_opening_plies
from orchestrator.contracts.play import PlayedGame
from orchestrator.spec.tournament import TournamentSpec

PLANNED_AT_ONCE = 64
"""Pairings per message to the workflow."""
ONE_TEAM_GAMES = frozenset({"envpool", "gymnasium"})
"""Each side plays a seed by itself, so that a pair of games is one contest."""


@dataclass(frozen=True, kw_only=True)
class PlannedBatch:
    """A pairing and what is needed to play it."""

    pairing: Pairing
    contenders: tuple[tuple[Player, ModelVersion], tuple[Player, ModelVersion]]
    pairs: int
    opening_plies: int | None


def plan_pairings(session: Session, tournament_id: str) -> tuple[Tournament, list[PlannedBatch]]:
    """The pairings to play now: the same until they are recorded, none once the tournament is over."""
    tournament = lock_tournament(session, tournament_id)
    events = _begin(session, tournament)
    if tournament.status is not TournamentStatus.RUNNING:
        return tournament, []
    field = entrants_of(session, tournament_id)
    rows = list(pairings_of(session, tournament_id))
    while not any(row.status is PairingStatus.PLANNED for row in rows):
        added = _next_rows(session, tournament, field, rows)
        if not added:
            break
        rows = list(pairings_of(session, tournament_id))
    waiting = [row for row in rows if row.status is PairingStatus.PLANNED][:PLANNED_AT_ONCE]
    batches = _batches(session, tournament, field, waiting)
    append_events(session, events)
    return tournament, batches


def record_pairing(
    session: Session, tournament_id: str, number: tuple[int, int], games: Sequence[PlayedGame]
) -> Pairing:
    """Record all games of a pairing, or find them recorded. Must be the last call of its transaction."""
    first, second = _sides(session, tournament_id, number)
    trial = lock_trial(session, first.trial_id) if first.trial_id == second.trial_id else None
    tournament = lock_tournament(session, tournament_id, shared=True)
    pairing = session.get_one(Pairing, (tournament_id, *number), with_for_update=True, populate_existing=True)
    if pairing.status is not PairingStatus.PLANNED or tournament.status is not TournamentStatus.RUNNING:
        return pairing  # recorded before, or the tournament has ended
    pairs = _pairs(tournament, spec_of_tournament(tournament))
    found = score_games(games, pairs)
    _fill(pairing, found, pairs * len(games[0].sides), now(session))
    if trial is not None:
        _count(session, trial, pairing, first, second, found)
    session.flush()
    occasion = {
        "tournament_id": tournament_id,
        "trial_id": pairing.trial_id or tournament.trial_id,
        "round": pairing.round,
        "pair": pairing.pair,
    }
    session.execute(insert(Match), [match_row(contest, first, second, **occasion) for contest in found])
    append_events(session, [_played(session, tournament, pairing, count_distinct_games(found))])
    return pairing


def entrants_of_pairing(session: Session, tournament_id: str, number: tuple[int, int]) -> tuple[str | None, str | None]:
    """The names of a pairing's entrants: two, one for a bye, none if there is no such pairing."""
    pairing = session.get(Pairing, (tournament_id, *number))
    if pairing is None:
        return None, None
    labels = {each.number: each.label for each in entrants_of(session, tournament_id)}
    return labels.get(pairing.first), None if pairing.second is None else labels.get(pairing.second)


def _begin(session: Session, tournament: Tournament) -> list[NewEvent]:
    if tournament.status is not TournamentStatus.PENDING:
        return []
    moment = now(session)
    tournament.status, tournament.started_at = TournamentStatus.RUNNING, moment
    tournament.workflow_started_at = tournament.workflow_started_at or moment
    session.flush()
    payload = TournamentStarted(**tournament_payload(tournament))
    return [NewEvent(trial_id=tournament.trial_id, payload=payload)]


def _next_rows(
    session: Session, tournament: Tournament, field: Sequence[TournamentEntrant], rows: Sequence[Pairing]
) -> int:
    """Insert the next pairings and return their number; byes and walkovers are decided at once."""
    spec = spec_of_tournament(tournament)
    planned = next_pairings(tournament, field, results_of(rows, spec.games))
    absent = {entrant.number for entrant in field if entrant.withdrawn is not None}
    moment = now(session)
    values = [_row(tournament, pairing) for pairing in planned]
    for row in values:
        first, second = row["first"], row["second"]
        row |= {"status": PairingStatus.PLANNED, "played_at": None, "walkover": None}
        if second is None:
            row |= {"status": PairingStatus.PLAYED, "played_at": moment}
        elif first in absent or second in absent:
            row |= {"status": PairingStatus.CANCELLED, "walkover": first if second in absent else second}
    if values:
        session.execute(insert(Pairing), values)
    return len(values)


def _row(tournament: Tournament, pairing: rules.Pairing) -> dict[str, object]:
    return {
        "tournament_id": tournament.id,
        "round": pairing.round,
        "pair": pairing.index,
        "first": int(pairing.first),
        "second": None if pairing.is_bye else int(pairing.second),
        "games": 0 if pairing.is_bye else pairing.games,
        # from the seed and the position only: another tournament with the same seed and field plays the same games
        "seed": derived_seed(tournament.seed, "pairing", pairing.round, pairing.index),
    }


def _batches(
    session: Session, tournament: Tournament, field: Sequence[TournamentEntrant], rows: Sequence[Pairing]
) -> list[PlannedBatch]:
    spec = spec_of_tournament(tournament)
    numbers = {number for row in rows for number in (row.first, row.second)}
    wanted = [entrant.version_id for entrant in field if entrant.number in numbers]
    found = session.execute(
        select(Player, ModelVersion)
        .join(ModelVersion, ModelVersion.player_id == Player.id)
        .where(ModelVersion.id.in_(wanted))
    ).all()
    sides = {version.id: (player, version) for player, version in found}
    plies = spec.opening_plies
    return [
        PlannedBatch(
            pairing=row,
            contenders=(sides[field[row.first].version_id], sides[field[row.second or 0].version_id]),
            pairs=_pairs(tournament, spec),
            opening_plies=game_opening_plies(tournament.spec["game"]["id"]) if plies is None else plies,
        )
        for row in rows
    ]


def _pairs(tournament: Tournament, spec: TournamentSpec) -> int:
    game = tournament.spec["game"]
    alone = game["id"] in ONE_TEAM_GAMES or game.get("teams") == "one"
    return spec.games if alone else spec.games // 2


def _sides(session: Session, tournament_id: str, number: tuple[int, int]) -> tuple[ModelVersion, ModelVersion]:
    pairing = session.get(Pairing, (tournament_id, *number))
    if pairing is None or pairing.second is None:
        raise NotFound(f"tournament {tournament_id} has no pairing {number} that is to be played")
    versions = dict(
        session.execute(
            select(TournamentEntrant.number, ModelVersion)
            .join(ModelVersion, ModelVersion.id == TournamentEntrant.version_id)
            .where(
                TournamentEntrant.tournament_id == tournament_id,
                TournamentEntrant.number.in_((pairing.first, pairing.second)),
            )
        ).all()
    )
    return versions[pairing.first], versions[pairing.second]


def _fill(pairing: Pairing, found: Sequence[Contest], whole: int, moment: datetime) -> None:
    """Each seed is played once for every team of the first side: two games a pair, or more where more teams play."""
    if len(found) != whole:
        number = (pairing.round, pairing.pair)
        raise Conflict(f"pairing {number} must have {whole} games, got {len(found)}")
    pairing.games = whole
    results = [contest.result for contest in found]
    pairing.status, pairing.played_at = PairingStatus.PLAYED, moment
    pairing.wins = results.count(MatchResult.WIN)
    pairing.draws = results.count(MatchResult.DRAW)
    pairing.losses = results.count(MatchResult.LOSS)


def _count(
    session: Session,
    trial: Trial,
    pairing: Pairing,
    first: ModelVersion,
    second: ModelVersion,
    found: Sequence[Contest],
) -> None:
    """Games between players of one league count in its payoff, as one commit."""
    totals = results_by_team(found)
    if not totals:
        return
    pairing.trial_id, pairing.commit = trial.id, take_commit(session, trial, CommitKind.PAIRING)
    tallies = [
        {
            "trial_id": trial.id,
            "commit": pairing.commit,
            "learner_version_id": first.id,
            "opponent_version_id": second.id,
            "seat": seat,
            "opponent_seat": other,
            "stream": Stream.RATING,
            **results.columns,
        }
        for (seat, other), results in totals.items()
    ]
    session.execute(insert(Tally), tallies)
    cells = (
        (
            CellKey(
                stream=Stream.RATING,
                player_id=first.player_id,
                opponent_id=second.player_id,
                seat=seat,
                opponent_seat=other,
            ),
            results,
        )
        for (seat, other), results in totals.items()
    )
    update_payoff(session, trial, pairing.commit, sum_by_cell(cells))


def _played(session: Session, tournament: Tournament, pairing: Pairing, different: int) -> NewEvent:
    labels = {each.number: each.label for each in entrants_of(session, tournament.id)}
    payload = PairingPlayed(
        **tournament_payload(tournament),
        round=pairing.round,
        pair=pairing.pair,
        first=labels[pairing.first],
        second=labels[pairing.second or 0],
        wins=pairing.wins,
        draws=pairing.draws,
        losses=pairing.losses,
        different_games=different,
    )
    return NewEvent(trial_id=tournament.trial_id, payload=payload)
