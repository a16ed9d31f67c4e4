"""Annotates a recorded game with a version's action probabilities and values at every position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from orchestrator.catalog import Component
from workers.games.errors import BadGame
from workers.games.names import make_game
from workers.games.protocol import Turn
from workers.inference.policy import Policy


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """A policy's view of one decision of a game, from the seat that had to make it."""

    ply: int
    seat: int
    action: int
    """What was played."""
    probabilities: tuple[float, ...]
    """Of every action; 0 for illegal ones."""
    value: float
    """What the policy expects the seat to earn from here."""


def annotate(game: Component, seed: int, moves: Sequence[int], policy: Policy) -> list[Opinion]:
    """Replay a game (its seed and moves, as `GameRecord` keeps them) and ask the policy at every decision."""
    table = make_game(game.id, 1, **game.options)
    table.auto_reset = False
    table.reset(np.array([seed], np.uint64))
    memory = torch.zeros(table.spec.seats, policy.state_size)
    opinions: list[Opinion] = []
    used, done = 0, False
    while used < len(moves):
        if done:
            raise BadGame(f"{table.spec.id}: the game ended after {used} of {len(moves)} recorded actions")
        turn = table.turn()
        now = np.array(moves[used : used + len(turn.seats)], np.int64)
        opinions += _ask(policy, turn, now, memory, int(table.plies[0]))
        done = bool(table.step(now).done[0])
        used += len(now)
    return opinions


def _ask(policy: Policy, turn: Turn, actions: np.ndarray, memory: torch.Tensor, ply: int) -> list[Opinion]:
    """The policy's opinion in every row; the memory of each seat moves on."""
    inputs = [torch.from_numpy(turn.observations), torch.from_numpy(turn.legal)]
    seats = torch.from_numpy(turn.seats)
    with torch.inference_mode():
        if policy.state_size:
            logits, values, after = policy.model(*inputs, memory[seats])
            memory[seats] = after
        else:
            logits, values = policy.model(*inputs)
        chances = torch.softmax(logits, 1).tolist()
    return [
        Opinion(ply=ply, seat=seat, action=action, probabilities=tuple(chance), value=value)
        for seat, action, chance, value in zip(
            turn.seats.tolist(), actions.tolist(), chances, values.tolist(), strict=True
        )
    ]
