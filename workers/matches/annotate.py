"""Annotates a recorded game with a version's action probabilities and values at every position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from orchestrator.catalog import Component
from workers.games.errors import BadGame
from workers.games.names import make_game
from workers.games.protocol import Turn, VectorGame
from workers.games.spaces import ActionValue
from workers.inference.policy import Places, Policy
from workers.models.encoding import to_tensors


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """A policy's probabilities and value at one decision of a game, for the seat that made it."""

    ply: int
    seat: int
    action: ActionValue
    """What was played."""
    probabilities: tuple[float, ...]
    """Of every action; 0 for illegal ones. Empty where actions are not Discrete."""
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
        now = table.layout.from_numbers(moves[used : used + len(turn.seats) * table.layout.width])
        annotations += _ask(policy, table, turn, now, memory)
        done = bool(table.step(now).done[0])
        used += len(now) * table.layout.width
    return annotations


def _ask(policy: Policy, game: VectorGame, turn: Turn, actions: NDArray[Any], memory: torch.Tensor) -> list[Annotation]:
    """The policy's annotation of every row; updates the recurrent state of each seat."""
    seats, legal = torch.from_numpy(turn.seats), game.legal_of(turn)
    with torch.inference_mode():
        mask = None if legal is None else torch.from_numpy(legal)
        places = Places(turn.tables, turn.seats)
        outputs, values, after = policy.run(to_tensors(turn.observations), mask, memory[seats], places)
        if after is not None:
            memory[seats] = after
        chances = torch.softmax(outputs, 1).tolist() if game.spec.discrete else [()] * len(seats)
    return [
        Annotation(
            ply=int(game.plies[0]),
            seat=seat,
            action=game.layout.value(action),
            probabilities=tuple(chance),
            value=value,
        )
        for seat, action, chance, value in zip(turn.seats.tolist(), actions, chances, values.tolist(), strict=True)
    ]
