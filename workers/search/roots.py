"""The roots of the trees: which action a simulation takes there, and which is played in the end."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from workers.games.seeding import mix, uniform
from workers.models.contract import ILLEGAL
from workers.search.halving import visit_table
from workers.search.rules import SearchRules
from workers.search.scores import argmax, softmax
from workers.search.trees import LOGITS, PRIORS, VISITS, Floats, Nodes, Trees

_LEAST = 2.0**-40
_GUMBEL, _DIRICHLET, _VISITS = 41, 42, 43  # keys that keep the three streams of random numbers apart


class Roots(ABC):
    """The roots of one search."""

    scores: Floats
    """[actions, roots] of the Gumbel method, as of the last backup."""

    def __init__(
        self,
        trees: Trees,
        slots: Nodes,
        rules: SearchRules,
        simulations: int,
        keys: NDArray[np.uint64],
        *,
        explores: bool,
    ) -> None:
        self.trees, self.slots, self.rules, self.simulations = trees, slots, rules, simulations
        self.nodes: Nodes = slots * trees.room
        numbers = trees.numbers(self.nodes)
        self.priors, self._logits = numbers[PRIORS], numbers[LOGITS]
        self._legal = self._logits > np.float32(ILLEGAL / 2)
        self.prepare(keys, explores)

    @abstractmethod
    def prepare(self, keys: NDArray[np.uint64], explores: bool) -> None:
        """Draw the noise of this search."""

    @abstractmethod
    def next_actions(self) -> Nodes:
        """The actions of the next simulation."""

    @abstractmethod
    def policy(self, scores: Floats) -> Floats:
        """[actions, roots]: the improved policy."""

    @abstractmethod
    def choose(self, policy: Floats, keys: NDArray[np.uint64], explores: bool) -> NDArray[np.int64]:
        """The actions to play."""

    def _draws(self, keys: NDArray[np.uint64], salt: int) -> NDArray[np.float64]:
        """[actions, roots], uniform above 0 and below 1."""
        drawn = uniform(mix(keys[None, :], np.arange(self.trees.actions)[:, None], salt))
        return np.maximum(drawn, _LEAST)


class GumbelRoots(Roots):
    """Samples actions without replacement by Gumbel noise, then halves them by their scores."""

    def prepare(self, keys: NDArray[np.uint64], explores: bool) -> None:
        noise = -np.log(-np.log(self._draws(keys, _GUMBEL))) if explores else np.zeros(self.priors.shape)
        self._noise = noise.astype(np.float32)
        self._tried = np.zeros(self.priors.shape, np.float32)
        considered = np.minimum(self._legal.sum(0), self.rules.considered)
        self._sequence = visit_table(int(considered.max()), self.simulations)[:, considered]
        self._rows, self._done = np.arange(len(self.nodes)), 0
        # -1 matches no visit count of the schedule: illegal and unconsidered actions are never selected
        self._tried[~self._legal] = -1.0
        first = self._noise + self._logits
        order = np.argsort(np.argsort(-first, axis=0, kind="stable"), axis=0)
        self._tried[order >= considered] = -1.0

    def next_actions(self) -> Nodes:
        wanted = self._sequence[self._done]
        scores = np.where(self._tried == wanted, self._noise + self.scores, -np.inf)
        chosen = argmax(scores)
        self._tried[chosen, self._rows] += 1.0
        self._done += 1
        return chosen

    def policy(self, scores: Floats) -> Floats:
        self.scores = scores
        return softmax(scores)

    def choose(self, policy: Floats, keys: NDArray[np.uint64], explores: bool) -> NDArray[np.int64]:
        most = self._tried == self._tried.max(0)
        return argmax(np.where(most, self._noise + self.scores, np.float32(-np.inf)))


class PuctRoots(Roots):
    """AlphaZero's roots: the prior with Dirichlet noise; the most visited action, or one in proportion to visits."""

    def prepare(self, keys: NDArray[np.uint64], explores: bool) -> None:
        share = self.rules.noise_share
        if not explores or not share:
            return
        alpha = self.rules.noise_alpha or 10.0 / np.maximum(self._legal.sum(0), 1)
        gamma = gammaincinv(np.broadcast_to(alpha, self.priors.shape), self._draws(keys, _DIRICHLET))
        gamma = np.where(self._legal, np.maximum(gamma, _LEAST), 0.0)
        noise = (gamma / gamma.sum(0)).astype(np.float32)
        self.priors = self.priors * np.float32(1.0 - share) + noise * np.float32(share)

    def next_actions(self) -> Nodes:
        return self.trees.best[self.nodes]

    def policy(self, scores: Floats) -> Floats:
        visits = self.trees.numbers(self.nodes)[VISITS]
        found: Floats = visits / np.maximum(visits.sum(0), np.float32(1.0))
        return found

    def choose(self, policy: Floats, keys: NDArray[np.uint64], explores: bool) -> NDArray[np.int64]:
        if not explores:
            return argmax(policy)
        ladder = policy.cumsum(0, np.float64)
        return np.asarray((ladder <= uniform(mix(keys, _VISITS)) * ladder[-1]).sum(0))
