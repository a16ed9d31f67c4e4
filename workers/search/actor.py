"""Acts by search in rollouts: the learner's decisions, with the improved policy and the search's value as targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from workers.games.protocol import VectorGame
from workers.games.spaces import from_columns
from workers.inference.actor import Columns, Rate
from workers.inference.policy import Policy
from workers.search.networks import Precision, network
from workers.search.rules import SearchRules
from workers.search.search import Search
from workers.search.simulators import MakeGame

POLICY_TARGET, VALUE = "policy", "value"
"""Columns of experience: the improved policy, [rows, actions], and the search's value."""


class SearchActor:
    """Decides by search from the positions at the tables that it watches; see `workers.inference.actor.GameActor`."""

    placed = True
    """It must know the table of each row."""

    def __init__(self, policy: Policy, make: MakeGame, rules: SearchRules, precision: Precision = "f32") -> None:
        self._policy, self._make, self._rules = policy, make, rules
        self._evaluate = network(policy, precision)
        self._search: Search | None = None
        self._game: VectorGame | None = None

    @property
    def autocast(self) -> torch.dtype | None:
        """The type in which the network computes; None for that of its weights."""
        return self._policy.autocast

    @autocast.setter
    def autocast(self, kind: torch.dtype | None) -> None:
        self._policy.autocast = kind

    @property
    def state_shapes(self) -> Mapping[str, tuple[int, ...]]:
        """It has no memory."""
        return {}

    def watch(self, game: VectorGame) -> None:
        """Search the positions of this game from now on."""
        self._game = game
        if self._search is None or self._search.trees.slots < game.tables:
            self._search = Search(self._make, self._rules, slots=game.tables)

    def act(self, rows: Columns, draws: NDArray[np.float32] | None, explore: Rate = 0.0) -> Columns:
        assert self._game is not None and self._search is not None, "`watch` comes first"
        self._evaluate.renew()  # the learner may have changed the weights
        found = self._search.run(self._game, rows["table"], self._evaluate, draws)
        return {"action": found.actions, POLICY_TARGET: found.policy, VALUE: found.values}

    def judge(self, rows: Columns) -> Columns:
        """The network's own policy and value: of final observations, whose positions are gone."""
        logits, values = self._evaluate(from_columns(rows), rows.get("legal"))
        likely: NDArray[Any] = torch.softmax(torch.from_numpy(logits), 1).numpy()
        return {"action": likely.argmax(1), POLICY_TARGET: likely, VALUE: values}
