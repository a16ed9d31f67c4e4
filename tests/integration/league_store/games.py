"""Made-up games of two seats: whole batches whose pairs end as asked."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.contracts.play import PlayedGame, PlayOutcome, PlayRequest

SUITED = 3
"""Random plies where that is left to whoever plays the game."""
# the first side's points in both games of a pair, for each score of a pair
_PAIRS = {0.0: (0, 0), 0.25: (0, 0.5), 0.5: (1, 0), 0.75: (1, 0.5), 1.0: (1, 1)}


def played(request: PlayRequest, scores: Sequence[float] = (1.0,)) -> PlayOutcome:
    """The request's games; the scores of the pairs are taken in turn, over and over."""
    games = []
    for pair in range(request.pairs):
        points = _PAIRS[scores[pair % len(scores)]]
        for turn, point in enumerate(points):
            returns = [2 * point - 1, 1 - 2 * point]
            seating = [0, 1] if turn == 0 else [1, 0]
            games.append(
                PlayedGame(
                    pair=pair,
                    seating=seating,
                    seed=(request.seed + pair) % (1 << 53),
                    returns=[returns[side] for side in seating],
                    moves=[4, 0, 8],
                    opening=SUITED if request.opening_plies is None else request.opening_plies,
                )
            )
    return PlayOutcome(games=games)


def played_alone(request: PlayRequest, better: int) -> PlayOutcome:
    """Games of one seat, in which one side earns more at every seed."""
    games = [
        PlayedGame(pair=pair, seating=[side], seed=pair, returns=[float(side == better)], moves=[1])
        for pair in range(request.pairs)
        for side in (0, 1)
    ]
    return PlayOutcome(games=games)
