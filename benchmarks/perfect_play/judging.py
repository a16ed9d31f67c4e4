"""What a player's choices are worth: the share that keeps the game's value, and games against the solver."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.peers.searching.positions import Judged, solved
from benchmarks.perfect_play.players import Chooser
from workers.games.names import make_game

Solve = Callable[[Sequence[Sequence[int]]], list[Judged]]


def shares(choose: Chooser, sets: Mapping[str, Sequence[Judged]]) -> dict[str, Any]:
    """By set: the share of moves that keep the value, in all positions and in those where some moves give it away."""
    found: dict[str, Any] = {}
    for name, judged in sets.items():
        kept = [
            each.keeps(int(column))
            for each, column in zip(judged, choose([each.moves for each in judged]), strict=True)
        ]
        mattering = [keeps for each, keeps in zip(judged, kept, strict=True) if each.matters]
        found[name] = {
            "positions": len(judged),
            "keeps": round(statistics.mean(kept), 4),
            "mattering": len(mattering),
            "keeps_where_it_matters": round(statistics.mean(mattering), 4) if mattering else None,
        }
    return found


def games_against_solver(
    choose: Chooser, games: int, *, first: bool, seed: int, solve: Solve = solved
) -> dict[str, Any]:
    """Games from the empty board. The solver plays any of its best moves; whoever moves first can win.

    `held` is how many moves of the player kept the game's value until the first that did not, on average; of a player
    that moves second all is lost from the start, so that its `length` says how long it could delay the end.
    """
    rng = np.random.default_rng(seed)
    moves: list[list[int]] = [[] for _ in range(games)]
    results, held = [0.0] * games, [0] * games
    slipped, running = [False] * games, list(range(games))
    for ply in range(42):
        players_turn = (ply % 2 == 0) == first
        judged = solve([moves[game] for game in running])
        columns = (
            choose([moves[game] for game in running]).tolist()
            if players_turn
            else [_best(each, rng) for each in judged]
        )
        for game, each, column in zip(running, judged, columns, strict=True):
            if players_turn:
                slipped[game] |= not each.keeps(column)
                held[game] += not slipped[game]
            moves[game].append(int(column))
        over = [_result(moves[game]) for game in running]
        for game, result in zip(running, over, strict=True):
            if result is not None:
                results[game] = result if players_turn else -result
        running = [game for game, result in zip(running, over, strict=True) if result is None]
        if not running:
            break
    return {
        "games": games,
        "wins": sum(result > 0 for result in results),
        "draws": sum(result == 0 for result in results),
        "losses": sum(result < 0 for result in results),
        "held": round(statistics.mean(held), 2),
        "length": round(statistics.mean(map(len, moves)), 2),
    }


def _best(judged: Judged, rng: np.random.Generator) -> int:
    best = max(score for score in judged.scores if score is not None)
    return int(rng.choice([column for column, score in enumerate(judged.scores) if score == best]))


def _result(moves: Sequence[int]) -> float | None:
    """What the last move won for its player: 1 or 0; None while the game goes on."""
    game = make_game("connect_four", 1)
    game.auto_reset = game.keeps_history = False
    game.reset(np.zeros(1, np.uint64))
    for move in moves:
        result = game.step(np.array([move]))
    return float(result.rewards.max()) if result.done[0] else None
