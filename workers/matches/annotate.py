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
class Annotation:
    """A policy's probabilities and value at one decision of a game, for the seat that made it."""

    ply: int
    seat: int
    action: int
    """What was played."""
    probabilities: tuple[float, ...]
    """Of every action; 0 for illegal ones."""
    value: float
    """What the policy expects the seat to earn from here."""


def annotate(game: Component, seed: int, moves: Sequence[int], policy: Policy) -> list[Annotation]:
    """Replay a game (its seed and moves, as `GameRecord` keeps them) and ask the policy at every decision."""
    table = make_game(game.id, 1, **game.options)
    table.auto_reset = False
    table.reset(np.array([seed], np.uint64))
    memory = torch.zeros(table.spec.seats, policy.state_size)
    annotations: list[Annotation] = []
    used, done = 0, False
    while used < len(moves):
        if done:
            raise BadGame(f"{table.spec.id}: the game ended after {used} of {len(moves)} recorded actions")
        turn = table.turn()
        now = np.array(moves[used : used + len(turn.seats)], np.int64)
        annotations += _ask(policy, turn, now, memory, int(table.plies[0]))
        done = bool(table.step(now).done[0])
        used += len(now)
    return annotations


def _ask(policy: Policy, turn: Turn, actions: np.ndarray, memory: torch.Tensor, ply: int) -> list[Annotation]:
    """The policy's annotation of every row; updates the recurrent state of each seat."""
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
        Annotation(ply=ply, seat=seat, action=action, probabilities=tuple(chance), value=value)
        for seat, action, chance, value in zip(
            turn.seats.tolist(), actions.tolist(), chances, values.tolist(), strict=True
        )
    ]
