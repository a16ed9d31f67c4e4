"""Computes NashConv of a league's policies, in a game that is small enough."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from temporalio import activity

from orchestrator.catalog import Component
from orchestrator.contracts.nash_conv import NashConvReport, NashConvRequest, compute_nash_conv
from orchestrator.contracts.play import Contender
from orchestrator.storage.artifacts import ArtifactStore
from workers.activities.failures import map_errors
from workers.games.enumeration import check_enumerable
from workers.games.errors import BadGame
from workers.games.exploitability import Policy as Probabilities
from workers.games.exploitability import nash_conv
from workers.games.names import make_game
from workers.games.protocol import VectorGame
from workers.inference.cache import PolicyCache
from workers.inference.policy import Policy

UNIFORM = "random"
"""The bot whose every legal action is as likely."""
DRAWS = 256
"""Draws by which the distribution of a policy without one, such as DQN's, is found: it is exact to one of them."""

Rows = NDArray[np.float32]
Mask = NDArray[np.bool_]


class NashConvActivities:
    """The worker's part of an evaluation by NashConv."""

    def __init__(self, store: ArtifactStore) -> None:
        self._store = store

    @activity.defn(name=compute_nash_conv.name)
    def compute_nash_conv(self, request: NashConvRequest) -> NashConvReport:
        """NashConv of each mixture; the same request gives the same values."""
        with map_errors():
            make = partial(_make, request.game)
            check_enumerable(make)
            policies = PolicyCache(self._store, make(1).spec)
            values = {
                mixture.metric: nash_conv(
                    make, [_probabilities(each, policies) for each in mixture.contenders], mixture.weights
                )
                for mixture in request.mixtures
            }
        return NashConvReport(trial=request.trial, player=request.player, generation=request.generation, values=values)


def _make(game: Component, tables: int) -> VectorGame:
    return make_game(game.id, tables, **game.options)


def _probabilities(contender: Contender, policies: PolicyCache) -> Probabilities:
    if contender.checkpoint is not None:
        return probabilities(policies.get(contender.checkpoint))
    if contender.bot == UNIFORM:
        return _uniform
    raise BadGame(f"NashConv needs the probabilities of actions, which the bot {contender.bot} does not tell")


def _uniform(observations: Rows, legal: Mask) -> NDArray[np.floating]:
    return np.asarray(legal / legal.sum(axis=1, keepdims=True))


def probabilities(policy: Policy) -> Probabilities:
    """The policy as a function from observations to the probabilities that it samples actions by."""
    if policy.state_size:
        raise BadGame("NashConv needs a model without recurrent state: its choice must follow from what is seen")
    if policy.placed:
        raise BadGame("NashConv needs players that act alone, without mates")
    return partial(_of_logits, policy) if policy.model_masks else partial(_of_draws, policy)


def _of_logits(policy: Policy, observations: Rows, legal: Mask) -> NDArray[np.floating]:
    with torch.inference_mode():
        observed, mask = torch.from_numpy(observations), torch.from_numpy(legal)
        logits, _, _ = policy.run(observed, mask, None, None)
        chances: NDArray[np.float64] = torch.softmax(logits.double(), 1).numpy()
    return np.where(legal, chances, 0.0)


def _of_draws(policy: Policy, observations: Rows, legal: Mask) -> NDArray[np.floating]:
    counts = np.zeros(legal.shape)
    rows = np.arange(len(legal))
    for draw in (np.arange(DRAWS, dtype=np.float32) + 0.5) / DRAWS:
        counts[rows, policy.decide(observations, legal, np.full(len(legal), draw, np.float32)).actions] += 1
    return np.asarray(counts / DRAWS)
