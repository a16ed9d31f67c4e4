"""Positions of connect four in which the choice matters, and the exact value of every move in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.rates import say
from benchmarks.peers.searching.venvs import ROOT, run_tool
from workers.games.names import make_game

PLIES = range(6, 31)
_SEED = 20_261_118


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A position by its moves, and the solver's score of each of the seven; None where a column is full."""

    moves: tuple[int, ...]
    scores: tuple[int | None, ...]

    @property
    def matters(self) -> bool:
        """Whether some moves keep the game's value and others give it away."""
        return len({_sign(score) for score in self.scores if score is not None}) > 1

    def keeps(self, action: int) -> bool:
        """Whether this move keeps the value: a win stays a win, a draw a draw."""
        score = self.scores[action]
        return score is not None and _sign(score) == max(_sign(each) for each in self.scores if each is not None)


def judged_positions(count: int, folder: Path = ROOT / "build") -> list[Judged]:
    """So many positions in which the choice matters, the same in every call; solved once, and kept in `folder`."""
    path = folder / f"search_positions_{count}.json"
    if not path.exists():
        say(f"solving positions until {count} are found in which the choice matters (once)")
        found: list[Judged] = []
        rng = np.random.default_rng(_SEED)
        while len(found) < count:
            drawn = [random_moves(rng) for _ in range(count)]
            found += [each for each in solved([moves for moves in drawn if moves]) if each.matters]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([[each.moves, each.scores] for each in found[:count]]))
    return [Judged(moves=tuple(moves), scores=tuple(scores)) for moves, scores in json.loads(path.read_text())]


def solved(positions: Sequence[Sequence[int]]) -> list[Judged]:
    """The scores of all moves in these positions, by bitbully."""
    answer = json.loads(run_tool("bitbully", "solve.py", "", stdin=json.dumps([list(moves) for moves in positions])))
    return [Judged(moves=tuple(moves), scores=tuple(scores)) for moves, scores in zip(positions, answer, strict=True)]


def random_moves(rng: np.random.Generator, plies: range = PLIES) -> list[int]:
    """A random game up to a random ply; empty if it ended before."""
    game, moves = make_game("connect_four", 1), []
    game.auto_reset = False
    game.reset(np.zeros(1, np.uint64))
    for _ in range(int(rng.choice(np.array(plies)))):
        legal = game.turn().legal
        assert legal is not None
        moves.append(int(rng.choice(np.flatnonzero(legal[0]))))
        if game.step(np.array(moves[-1:])).done[0]:
            return []
    return moves


def _sign(score: int) -> int:
    return (score > 0) - (score < 0)
