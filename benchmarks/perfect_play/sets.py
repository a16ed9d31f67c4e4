"""Sets of positions by ply and by how far the end is under perfect play, as AlphaZero.jl's benchmark has them.

Begin: at most 14 stones; middle: 15 to 28; end: more. Easy: fewer than 14 moves remain; medium: 14 to 27; hard: 28 or
more.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks.peers.rates import say
from benchmarks.peers.searching.positions import Judged, random_moves, solved
from benchmarks.peers.searching.venvs import ROOT

SQUARES = 42
SETS = ("begin-easy", "begin-medium", "begin-hard", "middle-easy", "middle-medium", "end-easy")
_PLIES = {"begin": range(1, 15), "middle": range(15, 29), "end": range(29, 37)}
_SEED = 21_261_118
_TRIES = 400
"""Batches of positions that are drawn for one part of the game before it gives up."""


def remaining(judged: Judged) -> int:
    """Moves until the end if both play perfectly: winners hurry, losers delay.

    The solver's score is 22 less the stones that the winner will have played, negative for the side that loses.
    """
    ply = len(judged.moves)
    best = max(score for score in judged.scores if score is not None)
    if best == 0:
        return SQUARES - ply
    mover_wins = best > 0
    winner_moved_first = (ply % 2 == 0) == mover_wins
    stones = 22 - abs(best)
    return 2 * stones - (1 if winner_moved_first else 0) - ply


def set_of(judged: Judged) -> str:
    """The name of the set that a position belongs to."""
    ply, left = len(judged.moves), remaining(judged)
    stage = "begin" if ply <= 14 else "middle" if ply <= 28 else "end"
    return f"{stage}-{'easy' if left < 14 else 'medium' if left < 28 else 'hard'}"


def position_sets(size: int, folder: Path = ROOT / "build") -> dict[str, list[Judged]]:
    """So many positions of each set, the same in every call; solved once, and kept in `folder`."""
    path = folder / f"perfect_play_sets_{size}.json"
    if not path.exists():
        found = draw_sets(size)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            json.dumps({name: [[each.moves, each.scores] for each in rows] for name, rows in found.items()})
        )
    return {
        name: [Judged(moves=tuple(moves), scores=tuple(scores)) for moves, scores in rows]
        for name, rows in json.loads(path.read_text()).items()
    }


def check_scale() -> None:
    """Raise where the solver's scores do not mean what `remaining` takes them for."""
    (won,) = solved([(3, 0, 3, 0, 3, 0)])
    if won.scores[3] != 18:
        raise RuntimeError(f"the solver scores a win with the fourth stone as {won.scores[3]}, not as 22 - 4 = 18")


def board(moves: tuple[int, ...]) -> tuple[str, ...]:
    """The position that these moves lead to, column by column: several orders of moves lead to the same."""
    return tuple("".join(str(ply % 2) for ply, move in enumerate(moves) if move == column) for column in range(7))


def draw_sets(size: int) -> dict[str, list[Judged]]:
    """Random games up to a random ply, until every set is full. Positions may occur once only."""
    rng, known = np.random.default_rng(_SEED), set[tuple[str, ...]]()
    found: dict[str, list[Judged]] = {name: [] for name in SETS}
    for stage, plies in _PLIES.items():
        names = [name for name in SETS if name.startswith(stage)]
        for _ in range(_TRIES):
            if all(len(found[name]) >= size for name in names):
                break
            drawn = {board(moves): moves for _ in range(4 * size) if (moves := tuple(random_moves(rng, plies)))}
            fresh = [moves for position, moves in drawn.items() if position not in known]
            known |= drawn.keys()
            for judged in solved(sorted(fresh)):
                if (rows := found.get(set_of(judged))) is not None and len(rows) < size:
                    rows.append(judged)
            say("positions: " + ", ".join(f"{name} {len(rows)}" for name, rows in found.items()))
        else:
            raise RuntimeError(f"{_TRIES} batches of random games did not fill the sets {', '.join(names)}")
    return found
