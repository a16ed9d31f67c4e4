"""Evolution strategies (ES), Salimans et al. 2017, "Evolution Strategies as a Scalable Alternative"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from orchestrator.spec.algorithms.evolution import EsAlgorithm, EsOptions
from workers.algorithms.contract import Algorithm, Metrics, NetFactory
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.evolution.population import ITERATION, MEMBER, Noise, PopulationPolicy, centred_ranks, noise
from workers.algorithms.learner import POLICY, Learner
from workers.buffers.contract import Buffer
from workers.games.protocol import GameSpec
from workers.inference.actor import Rate
from workers.rollout.batch import PENDING, Experience

NOISE = "noise"


class Es(Algorithm):
    """Perturbed copies of the policy play whole games; the weights move towards the noise that earned more.

    Noise e_k is standard normal, each of n / 2 pairs plays theta + sigma e_k and theta - sigma e_k (antithetic), and u
    are the ranks of the members' returns, from -1/2 to 1/2:

        theta <- Adam(theta, 1 / (n sigma) sum_k (u_k+ - u_k-) e_k  -  weight_decay theta)

    Noise is drawn from a seed and the iteration, so that processes exchange a return for each member and nothing else.
    """

    Options = EsOptions
    options: EsOptions
    equal_steps = True
    restarts = EsAlgorithm.restarts

    def build(self, spec: GameSpec, net: NetFactory) -> Learner:
        seed = int(torch.randint(2**62, ()))  # follows from the task's seed, set before `build`
        learner = Learner({POLICY: net(POLICY), NOISE: Noise(seed, spec.teams)})
        learner.optimiser(learning_rate=self.options.learning_rate, gradient_clip=self.options.gradient_clip)
        return learner

    def actor(self, nets: Mapping[str, nn.Module]) -> PopulationPolicy:
        source = nets[NOISE]
        assert isinstance(source, Noise)
        return PopulationPolicy(nets[POLICY], source, self.options.noise_scale, self.options.sampled)

    def explore_at(self, rate: float, tables: NDArray[np.int64], total: int) -> Rate:
        """The number of the member that each table plays."""
        if total < self.options.population:
            raise BadAlgorithm(
                f"es plays each of population {self.options.population} members at a table of its own; the processes "
                f"have {total} tables in all"
            )
        return (tables % self.options.population).astype(np.float32)

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        batch, options = buffer.newest, self.options
        source = learner.nets[NOISE]
        assert isinstance(source, Noise)
        played = torch.from_numpy(member_sums(batch, options.population))
        learner.average(played)
        games, sums = played.numpy()
        known = np.flatnonzero(games)
        fitness = sums[known] / games[known]
        weights = np.zeros(options.population)
        weights[known] = centred_ranks(fitness)
        optimiser = learner.optimisers[POLICY]
        iteration = int(batch.columns[ITERATION].max()) if len(batch) else int(source.iteration)
        drawn = noise(int(source.seed), iteration, options.population // 2, len(optimiser.flat))
        paired = (weights[0::2] - weights[1::2]).astype(np.float32)
        ascent = learner.tensor(paired @ drawn).div_(options.population * options.noise_scale)
        torch.sub(optimiser.flat * options.weight_decay, ascent, out=optimiser.gradient)
        learner.step_alike()
        source.iteration += 1
        yield {
            "fitness": float(fitness.mean()),
            "fitness_best": float(fitness.max()),
            "gradient_norm": float(ascent.norm()),
            "rows": float(len(batch)),
        }


def member_sums(batch: Experience, members: int) -> NDArray[np.float64]:
    """[2, members]: the games that each member played in the batch, and the sum of their returns.

    A seat's first game counts even if it was cut off by the end of the batch, with what it has earned so far; later
    games count if they ended.
    """
    earned, ended = batch.rewards.astype(np.float64), batch.next_row < 0
    ended &= batch.next_row != PENDING
    ended[batch.finals] = True
    offsets = batch.offsets.tolist()
    for start, end in zip(reversed(offsets[:-1]), reversed(offsets[1:]), strict=True):
        after = batch.next_row[start:end]
        rows = start + np.flatnonzero(after >= 0)
        earned[rows] += earned[batch.next_row[rows]]
        ended[rows] = ended[batch.next_row[rows]]
    first = np.ones(len(batch), np.bool_)
    first[batch.next_row[batch.next_row >= 0]] = False
    begins = np.flatnonzero(first)
    _, opening = np.unique(batch.streams[begins], return_index=True)
    counted = ended[begins]
    counted[opening] = True
    begins = begins[counted]
    player = batch.columns[MEMBER][begins]
    games = np.bincount(player, minlength=members)
    return np.stack([games, np.bincount(player, weights=earned[begins], minlength=members)]).astype(np.float64)
