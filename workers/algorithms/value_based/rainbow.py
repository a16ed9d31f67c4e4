"""Rainbow, Hessel et al. 2018: C51, noisy layers, dueling heads, double Q-learning, n-step returns, priorities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import nn

from orchestrator.spec.algorithms.value_based import RainbowOptions
from workers.algorithms.contract import Metrics, NetFactory
from workers.algorithms.differentiable import Differentiable
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.learner import POLICY, Learner
from workers.algorithms.targets.distributional import project
from workers.algorithms.value_based.distributions import Atoms
from workers.algorithms.value_based.heads import best_actions
from workers.algorithms.value_based.learning import FromTransitions, Gradient, Step
from workers.buffers.contract import Batch, Buffer
from workers.games.protocol import GameSpec
from workers.inference.distributional import NoisyGreedy
from workers.inference.policy import Policy
from workers.models.noisy import make_noisy, noise_size, set_noise


class Rainbow(FromTransitions):
    """Learns the distribution of returns p(s, a) on fixed atoms z towards that of r + gamma^n z at (s', a*).

    a* = argmax of the network's means at s'. The target network's distribution there is projected onto the atoms. The
    loss is the cross-entropy -sum_z target(z) log p(s, a)(z), which is a decision's priority as well.
    """

    Options = RainbowOptions
    options: RainbowOptions

    @property
    def atoms(self) -> Atoms:
        """What the network's outputs mean."""
        given = self.options
        return Atoms(given.value_low, given.value_high, given.atoms, given.dueling)

    def network(self, spec: GameSpec, net: NetFactory) -> nn.Module:
        found = net(POLICY, outputs=self.atoms.outputs(spec.actions))
        if self.options.noise and not make_noisy(found, self.options.noise):
            raise BadAlgorithm("noise needs a model with linear layers (torch.nn.Linear); noise: 0 goes without")
        return found

    def actor(self, nets: Mapping[str, nn.Module]) -> Policy:
        return NoisyGreedy(nets[POLICY], self.atoms)

    def explore(self, steps: int) -> float:
        """While it learns, the network's noise explores."""
        return 1.0 if self.options.noise else 0.0

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        self._noise = rng
        try:
            yield from super().update(learner, buffer, rng)
        finally:  # an update that was stopped must not leave its noise in the networks
            for net in learner.all_nets().values():
                set_noise(net, None)

    def _descend(self, learner: Learner, nets: tuple[Differentiable, Differentiable], batch: Batch) -> Gradient:
        for net in learner.all_nets().values():
            normal = self._noise.standard_normal(noise_size(net), dtype=np.float32)
            set_noise(net, learner.tensor(normal))
        return super()._descend(learner, nets, batch)

    def gradient(self, step: Step) -> Gradient:
        atoms, batch = self.atoms, step.batch
        taken = batch["action"].unsqueeze(1)
        best = best_actions(atoms(step.later[:, :-1]), batch.next_legal)
        later = atoms.log_chances(step.lagged[:, :-1]).gather(1, atoms.places(best)).squeeze(1).exp_()
        wanted = project(batch["reward"], batch["discount"], later, atoms.low, atoms.high)
        logits = atoms.logits(step.now[:, :-1])
        log_chances = torch.log_softmax(logits.gather(1, atoms.places(taken)).squeeze(1), 1)
        chances = log_chances.exp()
        loss = -(wanted * log_chances).sum(1)
        at_outputs = atoms.gradient(chances - wanted, taken, logits.shape[1])
        # the network's value output is not used
        gradient = torch.nn.functional.pad(at_outputs, (0, 1))
        return Gradient(gradient, loss, loss, atoms.means(chances))
