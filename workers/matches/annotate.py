"""Annotates a recorded game with a version's action probabilities and values at every position."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from workers.search.errors import BadSearch
from workers.search.networks import network
from workers.search.rules import SearchRules
from workers.search.search import Search


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
    searched: tuple[float, ...] = ()
    """The improved policy of a search with the policy's network; empty without one."""
    searched_value: float | None = None
    """The search's value."""


EVERY_PLY = range(sys.maxsize)


def annotate(
    game: Component,
    seed: int,
    moves: Sequence[int],
    policy: Policy,
    *,
    search: int | None = None,
    plies: range = EVERY_PLY,
) -> list[Annotation]:
    """Replay a game (its seed and moves, as `GameRecord` keeps them) and ask the policy at every decision of `plies`.

    With `search` each position is also searched, with so many simulations; BadGame where that cannot be.
    """
    table = make_game(game.id, 1, **game.options)
    table.auto_reset = False
    table.reset(np.array([seed], np.uint64))
    opinion = None if search is None else _SearchOpinion(game, policy, search)
    memory = torch.zeros(table.spec.seats, policy.state_size)
    annotations: list[Annotation] = []
    used, done = 0, False
    while used < len(moves) and table.plies[0] < plies.stop:
        if done:
            raise BadGame(f"{table.spec.id}: the game ended after {used} of {len(moves)} recorded actions")
        turn = table.turn()
        now = table.layout.from_numbers(moves[used : used + len(turn.seats) * table.layout.width])
        wanted = int(table.plies[0]) in plies
        # a policy with a memory is also asked before them, so that it remembers the game
        if wanted or policy.state_size:
            found = _ask(policy, table, turn, now, memory)
            if wanted:
                annotations += found if opinion is None else opinion.added(found, table)
        done = bool(table.step(now).done[0])
        used += len(now) * table.layout.width
    return annotations


class _SearchOpinion:
    """What a search with the policy's network makes of the positions of a game; its tree grows along the game."""

    def __init__(self, game: Component, policy: Policy, simulations: int) -> None:
        def make(tables: int) -> VectorGame:
            return make_game(game.id, tables, **game.options)

        try:
            self._evaluate = network(policy)
            self._search = Search(make, SearchRules(simulations=simulations), slots=1, reuse=True)
        except BadSearch as error:
            raise BadGame(f"search: {error}") from error

    def added(self, annotations: list[Annotation], table: VectorGame) -> list[Annotation]:
        """The annotations of the position at the table, with the search's."""
        found = self._search.run(table, np.zeros(1, np.int64), self._evaluate, None)
        policy, value = tuple(found.policy[0].tolist()), float(found.values[0])
        return [replace(each, searched=policy, searched_value=value) for each in annotations]


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
