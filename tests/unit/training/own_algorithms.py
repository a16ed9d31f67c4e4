"""Algorithms as users write them, for tests."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from lanista.algorithms import Algorithm, Bc, Learner, Metrics, NetFactory, ReplayOptions, scheduled
from lanista.buffers import Batch, Buffer, Sequences
from lanista.games import GameSpec


class RecurrentActorCritic(Algorithm):
    """A recurrent policy and a critic with an optimiser each, a lagged critic, and kept sequences with burn-in."""

    Options = ReplayOptions

    def build(self, spec: GameSpec, net: NetFactory) -> Learner:
        width = int(np.prod(spec.observation_shape))
        learner = Learner({"policy": net("policy"), "critic": nn.Linear(width, 1)})
        learner.optimiser("policy", ["policy"], learning_rate=self.options.learning_rate)
        learner.optimiser("critic", ["critic"], learning_rate=10 * self.options.learning_rate)
        learner.lag("critic", tau=0.1)
        return learner

    def buffer(self, spec: GameSpec) -> Buffer:
        return Sequences(capacity=self.options.capacity, length=2, burn_in=1, warm_up=32, kept=self.options.kept)

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        drawn = buffer.draw(32, rng)
        if drawn is None:
            learner.skip()
            return
        batch, critic = drawn.tensors(), learner.nets["critic"]
        mask = batch["mask"]
        later = learner.lagged("critic")(batch.next_obs.flatten(2)).squeeze(2)
        error = batch["reward"] + batch["discount"] * later - critic(batch.obs.flatten(2)).squeeze(2)
        learner.descend((error.square() * mask).mean(), "critic")
        yield {"critic_loss": float(error.detach().square().mean())}
        learner.descend(-(self._log_probs(batch, learner) * error.detach() * mask).mean(), "policy")
        learner.counters["sequences"] = learner.counters.get("sequences", 0) + len(drawn)
        yield {"rows": float(len(drawn))}

    def _log_probs(self, batch: Batch, learner: Learner) -> Tensor:
        """Along each sequence from its stored state."""
        assert batch.legal is not None
        state, found = batch["state"], []
        for step in range(len(batch["mask"])):
            logits, _, state = learner.model(batch.obs[step], batch.legal[step], state)
            taken = torch.log_softmax(logits, 1).gather(1, batch["action"][step].unsqueeze(1))
            found.append(taken.squeeze(1))
        return torch.stack(found)


class Regression(Algorithm):
    """The short form: one loss, of the newest decisions; the value follows the reward."""

    def loss(self, batch: Batch, nets: Mapping[str, nn.Module]) -> Tensor:
        _, values = nets["policy"](batch.obs, batch.legal)
        return (values - batch["reward"]).square()


class DiscreteOnly(Regression):
    """Says itself which actions it learns."""

    actions = (spaces.Discrete, spaces.MultiDiscrete)


class Restarting(Regression):
    """Its games begin anew with each update."""

    restarts = True


class Annealed(Regression):
    """Its learning rate falls with the player's steps."""

    def schedule(self, learner: Learner, steps: int) -> None:
        rate = scheduled("linear", start=1e-2, end=1e-4, over=100_000, steps=steps)
        learner.optimisers["policy"].learning_rate = rate
        learner.counters["scheduled_at"] = steps


class AnnealedCloning(Bc):
    """Learns from a data set, and notes the steps that its schedule was called with."""

    called: ClassVar[list[int]] = []

    def schedule(self, learner: Learner, steps: int) -> None:
        self.called.append(steps)
