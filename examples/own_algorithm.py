"""An algorithm of your own in one file: DQN (Mnih et al., 2015), with a target network, replay and double Q-learning.

A trial file beside it names it: `algorithm: {id: "own_algorithm:Dqn"}`; see own_algorithm.yaml. The
model's logits are the values of the actions. Networks, optimiser and target network are in the checkpoint.
"""

from collections.abc import Mapping

import torch
from pydantic import Field
from torch import Tensor, nn

from lanista.algorithms import Algorithm, EpsilonGreedy, Learner, NetFactory, ReplayOptions
from lanista.buffers import Batch
from lanista.games import GameSpec


class DqnOptions(ReplayOptions):
    """What a trial file may set; a wrong name or value is refused before the trial starts."""

    gamma: float = Field(default=0.99, ge=0, le=1, description="discount per decision")
    target_rate: float = Field(default=0.005, gt=0, le=1, description="how far a step moves the target network")
    explore_steps: int = Field(default=20_000, ge=1, description="environment steps until exploration is at its least")
    explore_least: float = Field(default=0.02, ge=0, le=1, description="least chance of a random action")


class Dqn(Algorithm):
    """Learns the value of each action from replayed decisions, and plays the best one."""

    Options = DqnOptions

    def build(self, spec: GameSpec, net: NetFactory) -> Learner:
        learner = super().build(spec, net)
        learner.lag(tau=self.options.target_rate)
        return learner

    def actor(self, nets: Mapping[str, nn.Module]) -> EpsilonGreedy:
        return EpsilonGreedy(nets["policy"])

    def explore(self, steps: int) -> float:
        return float(max(self.options.explore_least, 1.0 - steps / self.options.explore_steps))

    def loss(self, batch: Batch, nets: Mapping[str, nn.Module]) -> Tensor:
        values, _ = nets["policy"](batch.obs, batch.legal)
        taken = values.gather(1, batch["action"].unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = nets["policy"](batch.next_obs, batch.next_legal)[0].argmax(1, keepdim=True)
            later = nets["lagged/policy"](batch.next_obs, batch.next_legal)[0].gather(1, best).squeeze(1)
            wanted = batch["reward"] + batch["discount"] * later
        return nn.functional.mse_loss(taken, wanted, reduction="none")
