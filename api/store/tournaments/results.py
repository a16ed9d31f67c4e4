"""A tournament's pairings as the league's rules read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from api.schemas.enums import PairingStatus, TournamentFormat
from api.store.tables import Pairing, Tournament, TournamentEntrant
from league import tournaments as rules
from league.tournaments.adaptive import mean_width
from league.tournaments.round_robin import rounds_of
from orchestrator.spec.tournament import TournamentSpec

MAX_CYCLES = 100
_OWN_KEYS = ("challenger_count",)
_PAIRINGS = Pairing.__table__
_READ = ("round", "pair", "first", "second", "games", "status", "wins", "draws", "losses", "walkover")
_COLUMNS = select(*(_PAIRINGS.c[name] for name in _READ)).order_by(_PAIRINGS.c.round, _PAIRINGS.c.pair)


def spec_of_tournament(tournament: Tournament) -> TournamentSpec:
    """The tournament's spec."""
    given = {name: value for name, value in tournament.spec.items() if name not in _OWN_KEYS}
    if given.get("trial") is not None:
        given.pop("game", None)  # the row keeps what the trial said
    return TournamentSpec.model_validate(given)


def entrants_of(session: Session, tournament_id: str) -> Sequence[TournamentEntrant]:
    """The entrants by their numbers, which are the seeding."""
    return session.scalars(
        select(TournamentEntrant)
        .where(TournamentEntrant.tournament_id == tournament_id)
        .order_by(TournamentEntrant.number)
    ).all()


def pairings_of(session: Session, tournament_id: str) -> Sequence[Pairing]:
    """Every pairing so far, in order."""
    return session.scalars(
        select(Pairing)
        .where(Pairing.tournament_id == tournament_id)
        .order_by(Pairing.round, Pairing.pair)
        .execution_options(populate_existing=True)
    ).all()


def pairing_columns(session: Session, tournament_id: str) -> Sequence[Row[Any]]:
    """Some columns of every pairing so far, in order: entities of a large tournament would take a second to build."""
    return session.connection().execute(_COLUMNS.where(_PAIRINGS.c.tournament_id == tournament_id)).all()


def results_of(pairings: Iterable[Pairing | Row[Any]], games: int) -> list[rules.Result]:
    """The decided pairings as results; entrants are named by their numbers.

    A bye counts as many games as a played pairing had, which in games of more than two seats is more than `games`.
    """
    pairings = list(pairings)
    games = max([games, *(row.games for row in pairings if row.status is PairingStatus.PLAYED)])
    results = []
    for row in pairings:
        if row.status is not PairingStatus.PLAYED and row.walkover is None:
            continue
        bye = row.second is None
        pairing = rules.Pairing(
            round=row.round,
            index=row.pair,
            first=str(row.first),
            second=rules.BYE if bye else str(row.second),
            games=row.games if row.status is PairingStatus.PLAYED and not bye else games,
        )
        if bye:
            results.append(rules.Result.of_bye(pairing))
        elif row.walkover is not None:
            results.append(rules.Result.of_walkover(pairing, str(row.walkover)))
        else:
            results.append(rules.Result(pairing=pairing, wins=row.wins, draws=row.draws, losses=row.losses))
    return results


def next_pairings(
    tournament: Tournament, field: Sequence[TournamentEntrant], results: Sequence[rules.Result]
) -> tuple[rules.Pairing, ...]:
    """The pairings that the format asks for next; computed from the results only, so the same after a restart."""
    spec = spec_of_tournament(tournament)
    names = [str(entrant.number) for entrant in field]
    absent = {str(entrant.number) for entrant in field if entrant.withdrawn is not None}
    options = spec.options
    if spec.format == "adaptive":
        options["absent"] = sorted(absent)
    if spec.format == "gauntlet":
        options["challengers"] = names[: tournament.spec["challenger_count"]]
    if spec.target_width is None or spec.format == "adaptive":
        return rules.next_pairings(spec.format, names, results, options)
    return _until_narrow(spec, names, absent, results, options)


def standings_of(
    tournament: Tournament, field: Sequence[TournamentEntrant], results: Sequence[rules.Result]
) -> tuple[rules.Standing, ...]:
    """The standings as the format ranks them: a knock-out by how far each entrant came, all others by points."""
    names = tuple(str(entrant.number) for entrant in field)
    lines = rules.standings(names, results)
    if tournament.format is not TournamentFormat.KNOCKOUT:
        return lines
    options = spec_of_tournament(tournament).options
    return rules.ranked_by_place(lines, rules.knockout_placings(names, list(results), options))


def _until_narrow(
    spec: TournamentSpec,
    names: list[str],
    absent: set[str],
    results: Sequence[rules.Result],
    options: dict[str, object],
) -> tuple[rules.Pairing, ...]:
    """Another cycle until the intervals are narrow enough or the maximum of cycles is played."""
    assert spec.target_width is not None
    a_cycle = 1 if spec.format == "gauntlet" else rounds_of(len(names))
    for cycles in range(1, (spec.cycles or MAX_CYCLES) + 1):
        # results of whole cycles only: later results must not change what was decided before them
        within = [result for result in results if result.pairing.round < cycles * a_cycle]
        left = rules.next_pairings(spec.format, names, within, {**options, "cycles": cycles})
        if left:
            return left
        if _width(names, absent, within) <= spec.target_width:
            break
    return ()


def _width(names: Sequence[str], absent: set[str], results: Sequence[rules.Result]) -> float:
    """The mean interval width among entrants that still take part; 0 for fewer than two."""
    present = [name for name in names if name not in absent]
    between = [each for each in results if not {each.pairing.first, each.pairing.second} & absent]
    return mean_width(present, between) if len(present) > 1 else 0.0
