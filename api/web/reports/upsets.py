"""Upsets of a tournament: pairings that the lower-rated side won, and the most surprising single games."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from heapq import nsmallest
from typing import Final

from api.schemas.enums import MatchResult, PairingStatus
from api.schemas.reports import InstructiveGame, Upset
from api.store.core.engine import Session
from api.store.tables import TournamentEntrant
from api.store.tournaments.report_reads import PairingRow, longest_decided_games
from league.ratings import Ratings

MOST_UPSETS: Final = 10
MOST_GAMES: Final = 10


def upsets(field: Sequence[TournamentEntrant], pairings: Sequence[PairingRow], ratings: Ratings) -> list[Upset]:
    """The pairings whose result was furthest from the expected score, the largest first."""
    found = []
    for row in pairings:
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


def instructive_games(
    session: Session,
    tournament_id: str,
    field: Sequence[TournamentEntrant],
    pairings: Sequence[PairingRow],
    ratings: Ratings,
) -> list[InstructiveGame]:
    """The most surprising wins: the longest game for each winner and loser."""
    keys = [key for _, held in _surprising_wins(pairings, ratings) for key in held]
    numbers = {each.version_id: each.number for each in field}
    found = []
    for match_id, round_, pair, version, opponent, result, plies in longest_decided_games(session, tournament_id, keys):
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


def _surprising_wins(
    pairings: Sequence[PairingRow], ratings: Ratings
) -> list[tuple[tuple[int, int], list[tuple[int, int]]]]:
    """The least expected (winner, loser) pairs, each with its pairings (round, pair).

    They are found from the pairings alone, so that only the games of these few pairings are read.
    """
    held: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for row in pairings:
        if row.status is not PairingStatus.PLAYED or row.second is None:
            continue
        if row.wins:
            held[row.first, row.second].append((row.round, row.pair))
        if row.losses:
            held[row.second, row.first].append((row.round, row.pair))
    elo = {int(name): value for name, value in ratings.elos().items()}
    # the expected score grows with the Elo gap, and is below one half where the winner is rated below the loser
    gaps = ((elo[won] - elo[lost], (won, lost)) for won, lost in held)
    return [(sides, held[sides]) for _, sides in nsmallest(MOST_GAMES, (each for each in gaps if each[0] < 0))]
