"""A population of perturbed policies: which member a table plays, their noise from seeds, and how they act."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from orchestrator.catalog import Component
from workers.games.spaces import from_columns, take
from workers.inference.actor import STATE, Columns, Rate
from workers.inference.grouped import FusedGroup, ModuleGroup, PerceptronGroup, group
from workers.inference.policy import Policy, PolicyOutput

MEMBER, ITERATION = "member", "iteration"
"""Columns of a decision: the member that took it, and the iteration whose noise perturbed it."""


def noise(seed: int, iteration: int, pairs: int, size: int) -> NDArray[np.float32]:
    """[pairs, size], standard normal: the perturbations of an iteration. More pairs begin with the same rows."""
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, iteration])))
    return rng.standard_normal((pairs, size), np.float32)


def centred_ranks(fitness: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks spread evenly from -0.5 for the least to 0.5 for the greatest; equal values share the mean of theirs."""
    if len(fitness) < 2:
        return np.zeros(len(fitness))
    _, place, counts = np.unique(fitness, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks = (last - (counts + 1) / 2)[place]
    found: NDArray[np.float64] = ranks / (len(fitness) - 1) - 0.5
    return found


class Noise(nn.Module):
    """Where the perturbations of the present iteration come from: buffers, so that checkpoints have them."""

    seed: Tensor
    iteration: Tensor
    teams: Tensor

    def __init__(self, seed: int, teams: Sequence[int]) -> None:
        super().__init__()
        self.register_buffer("seed", torch.tensor(seed))
        self.register_buffer("iteration", torch.tensor(0))
        self.register_buffer("teams", torch.tensor(teams))


class PopulationPolicy(Policy):
    """In rollouts each table plays the member that `explore` names; elsewhere it plays the unperturbed weights.

    Members come in pairs with opposite noise: 2k plays + the k-th noise, 2k + 1 minus it. Seats of odd teams play their
    pair's other member, so that at a table of self-play both members of a pair meet.
    """

    placed = True

    def __init__(self, model: nn.Module, noise: Noise, scale: float, sampled: bool) -> None:
        super().__init__(model)
        self._noise, self._scale, self._sampled = noise, scale, sampled
        self._made_for: tuple[int, ...] = ()
        self._members: list[Policy] = []
        self._group: PerceptronGroup | FusedGroup | ModuleGroup | Policy = self

    @property
    def signature(self) -> Hashable:
        return self._sampled

    def act(self, rows: Columns, draws: NDArray[np.float32] | None, explore: Rate = 0.0) -> Columns:
        if not isinstance(explore, np.ndarray):
            return super().act(rows, draws, explore)
        team = self._noise.teams.numpy()[rows["seat"]]
        # members of a pair differ in the last bit of their number
        members = explore.astype(np.int64) ^ (team & 1)
        decided = self._decide(members, rows, draws)
        iteration = np.full(len(members), int(self._noise.iteration), np.int64)
        found: dict[str, NDArray[Any]] = {"action": decided.actions, MEMBER: members, ITERATION: iteration}
        return found if decided.states is None else {**found, STATE: decided.states}

    def sample(self, outputs: Tensor, draws: NDArray[np.float32] | None) -> tuple[Tensor, Tensor]:
        return super().sample(outputs, draws if self._sampled else None)

    def _decide(self, members: NDArray[np.int64], rows: Columns, draws: NDArray[np.float32] | None) -> PolicyOutput:
        """All rows in blocks of equal size, a block a member; short blocks are filled with a copy of the first row."""
        present, block = np.unique(members, return_inverse=True)
        self._perturb(present)
        counts = np.bincount(block)
        order = np.argsort(block, kind="stable")
        begins = np.cumsum(counts) - counts
        places = block[order] * counts.max() + np.arange(len(order)) - begins[block[order]]
        index = np.zeros(len(present) * counts.max(), np.int64)
        index[places] = order
        given: list[Any] = [
            None if part is None else part[index] for part in (rows.get("legal"), draws, rows.get(STATE))
        ]
        decided = self._group.decide(take(from_columns(rows), index), *given)
        back = np.empty_like(order)
        back[order] = places
        states = None if decided.states is None else decided.states[back]
        return PolicyOutput(decided.actions[back], decided.log_probs[back], decided.values[back], states)

    def _perturb(self, present: NDArray[np.int64]) -> None:
        """Make these members of the present iteration, unless they are there."""
        wanted = (int(self._noise.iteration), *present.tolist())
        if wanted == self._made_for:
            return
        centre = parameters_to_vector(self.model.parameters()).detach()
        drawn = noise(int(self._noise.seed), wanted[0], int(present.max()) // 2 + 1, len(centre))
        signs = np.where(present % 2, -self._scale, self._scale).astype(np.float32)
        weights = centre + torch.from_numpy(drawn[present // 2] * signs[:, None]).to(centre.device)
        while len(self._members) < len(present):
            self._members.append(self._member())
        for member, vector in zip(self._members, weights, strict=False):
            _fill(member.model, self.model, vector)
        mates = self._members[: len(present)]
        self._group = group(mates) if len(mates) > 1 else mates[0]
        self._made_for = wanted

    def _member(self) -> Policy:
        # all members have the same architecture
        return _Member(deepcopy(self.model), self._sampled)


class _Member(Policy):
    """One perturbed policy."""

    def __init__(self, model: nn.Module, sampled: bool) -> None:
        super().__init__(model, Component(id="member"))
        self._sampled = sampled

    def sample(self, outputs: Tensor, draws: NDArray[np.float32] | None) -> tuple[Tensor, Tensor]:
        return super().sample(outputs, draws if self._sampled else None)


@torch.no_grad()
def _fill(model: nn.Module, like: nn.Module, parameters: Tensor) -> None:
    """Set the parameters from one vector, and the buffers from another model of the same kind."""
    vector_to_parameters(parameters, model.parameters())
    for mine, theirs in zip(model.buffers(), like.buffers(), strict=True):
        mine.copy_(theirs)
