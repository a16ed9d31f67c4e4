"""Acts by search from observations alone: for games that other processes hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.games.spaces import Observations
from workers.inference.policy import Places, Policy, PolicyOutput
from workers.search.errors import BadSearch
from workers.search.networks import network
from workers.search.rules import SearchRules
from workers.search.search import Search
from workers.search.simulators import MakeGame

MOST_AT_ONCE = 64
"""Rows that are searched together, at most: trees take memory."""


class SearchingPolicy(Policy):
    """A policy whose network is searched with: the observation shows the position, and a fresh tree is grown for it.

    BadSearch for games whose positions cannot be read from observations.
    """

    def __init__(self, policy: Policy, make: MakeGame, rules: SearchRules) -> None:
        super().__init__(policy.model, policy.component)
        probe = make(1)
        if not probe.reads_observations:
            raise BadSearch(
                f"{probe.spec.id}: a served search reads positions from observations; allowed: connect_four, "
                "tic_tac_toe, and games that define place_observations"
            )
        self._evaluate = network(policy)
        self._make, self._rules = make, rules
        self._searches = {1: Search(make, rules, slots=1)}

    def decide(
        self,
        observations: Observations,
        legal: NDArray[np.bool_] | None,
        draws: NDArray[np.float32] | None,
        states: NDArray[np.float32] | None = None,
        places: Places | None = None,
    ) -> PolicyOutput:
        """See `Decider`; with `draws` the search explores, without it plays the best move found."""
        assert not isinstance(observations, dict)
        parts = []
        for start in range(0, len(observations), MOST_AT_ONCE):
            rows = slice(start, start + MOST_AT_ONCE)
            given: list[Any] = [None if part is None else part[rows] for part in (legal, draws)]
            parts.append(self._decide(observations[rows], *given))
        return PolicyOutput(
            np.concatenate([part.actions for part in parts]),
            np.concatenate([part.log_probs for part in parts]),
            np.concatenate([part.values for part in parts]),
        )

    def _decide(
        self, observations: NDArray[Any], legal: NDArray[np.bool_] | None, draws: NDArray[np.float32] | None
    ) -> PolicyOutput:
        count = len(observations)
        game = self._make(count)
        game.auto_reset = game.keeps_history = False
        game.reset(np.zeros(count, np.uint64))
        game.place_observations(observations)
        size = 1 << (count - 1).bit_length()
        if size not in self._searches:
            self._searches[size] = Search(self._make, self._rules, slots=size)
        found = self._searches[size].run(game, np.arange(count), self._evaluate, draws)
        rows, actions = np.arange(count), found.actions
        if legal is not None:
            # the caller may forbid more than the game does
            best = np.where(legal, found.policy, np.float32(-1.0)).argmax(1)
            actions = np.where(legal[rows, actions], actions, best)
        log_probs = np.log(np.maximum(found.policy[rows, actions], np.float32(1e-30)))
        return PolicyOutput(actions, log_probs, found.values)
