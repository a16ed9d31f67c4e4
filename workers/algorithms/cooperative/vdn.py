"""Value decomposition networks (VDN), Sunehag et al. 2018."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from orchestrator.spec.algorithms.cooperative import VdnOptions
from workers.algorithms.contract import Algorithm, Metrics, NetFactory
from workers.algorithms.cooperative.seats import SEATS, SeatGreedy, SeatNets, Seats, check_at_once, make_seats
from workers.algorithms.exploration.schedules import explore_rate
from workers.algorithms.learner import Learner
from workers.buffers.contract import Batch, Buffer
from workers.buffers.joint import JointReplay
from workers.games.protocol import GameSpec
from workers.inference.policy import Policy


class Vdn(Algorithm):
    """The value of a team's actions is the sum of its mates' values, so that each mate's best action is the team's.

    Q_tot(o, u) = sum_i Q_i(o_i, u_i), learnt by (r + gamma * Q_tot'(o', argmax Q) - Q_tot(o, u))^2 with lagged networks
    Q' and the team's reward r. The argmax is the learning networks' (double Q-learning).
    """

    Options = VdnOptions
    options: VdnOptions
    recurrent = False
    actions = (spaces.Discrete,)
    replay_class = JointReplay
    _mates = 1

    def check(self, spec: GameSpec) -> None:
        super().check(spec)
        check_at_once(spec)

    def build(self, spec: GameSpec, net: NetFactory) -> Learner:
        nets = {**make_seats(spec, net, self.options), **self._mixer(spec)}
        learner = Learner(nets)
        learner.optimiser(
            nets=tuple(nets), learning_rate=self.options.learning_rate, gradient_clip=self.options.gradient_clip
        )
        for name in nets:
            learner.lag(name, every=self.options.target_every)
        return learner

    def actor(self, nets: Mapping[str, nn.Module]) -> Policy:
        return SeatGreedy(nets)

    def explore(self, steps: int) -> float:
        return explore_rate(self.options, steps)

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        seats = learner.nets[SEATS]
        assert isinstance(seats, Seats)
        self._mates = seats.size
        yield from super().update(learner, buffer, rng)

    @property
    def gradient_steps(self) -> int:
        """As `Algorithm.gradient_steps`, with team decisions counted instead of decisions."""
        given = self.options
        return max(1, round(given.replay_ratio * self._expected_rows / (self._mates * given.minibatch)))

    def loss(self, batch: Batch, nets: Mapping[str, nn.Module]) -> Tensor:
        present = batch["present"].float()
        values, _ = SeatNets(nets).joint(batch.obs, batch.legal)
        taken = values.gather(2, batch["action"].unsqueeze(2)).squeeze(2)
        with torch.no_grad():
            best, _ = SeatNets(nets).joint(batch.next_obs, batch.next_legal)
            after, _ = SeatNets(nets, "lagged/").joint(batch.next_obs, batch.next_legal)
            chosen = after.gather(2, best.argmax(2, keepdim=True)).squeeze(2)
            target = batch["reward"] + batch["discount"] * self.mix(nets, batch, chosen * present, after=True)
        return (self.mix(nets, batch, taken * present) - target).square()

    def mix(self, nets: Mapping[str, nn.Module], batch: Batch, values: Tensor, after: bool = False) -> Tensor:
        """The team's values [rows] from its mates' [rows, mates]; `after` by the lagged copies in the next state."""
        return values.sum(1)

    def _mixer(self, spec: GameSpec) -> dict[str, nn.Module]:
        """Networks that mix the values, by name."""
        return {}
