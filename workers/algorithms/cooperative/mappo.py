"""MAPPO: PPO for teams with a central critic, Yu et al. 2022."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import nn

from orchestrator.spec.algorithms.cooperative import MappoOptions
from workers.algorithms.actor_critic.clipping import log_ratio, surrogate_gradient, unclipped
from workers.algorithms.contract import Algorithm, Metrics, NetFactory, explained_variance, return_spread
from workers.algorithms.cooperative.critics import CRITIC, StateCritic, take, team_batch
from workers.algorithms.cooperative.gradients import TeamGradients
from workers.algorithms.cooperative.seats import SeatNets, SeatPolicy, check_at_once, make_seats
from workers.algorithms.heads import head_terms, value_gradient
from workers.algorithms.learner import POLICY, Learner
from workers.algorithms.metrics import Measured, minibatch_means
from workers.algorithms.targets.gae import Targets, gae
from workers.buffers.contract import Batch, Buffer
from workers.games.protocol import GameSpec
from workers.inference.policy import Policy
from workers.models.contract import head_of
from workers.rollout.joint import join_teams

_MEASURED = ("kl", "entropy", "value_loss")


class Mappo(Algorithm):
    """PPO's clipped ratio for each mate, with one advantage for all of them from a critic of the global state.

    L = -mean_i min(r_i A, clip(r_i, 1 - e, 1 + e) A) - c H(pi_i) + v (V(s) - R)^2 / 2, where r_i is the ratio of a
    mate's probabilities, and A and R come from generalised advantage estimation on the team's rewards and V(s).
    """

    Options = MappoOptions
    options: MappoOptions
    recurrent = False
    equal_steps = True
    central = True

    def check(self, spec: GameSpec) -> None:
        super().check(spec)
        check_at_once(spec)

    def build(self, spec: GameSpec, net: NetFactory) -> Learner:
        nets = {**make_seats(spec, net, self.options), CRITIC: StateCritic(spec, self.options.critic_hidden)}
        learner = Learner(nets)
        learner.optimiser(
            nets=tuple(nets), learning_rate=self.options.learning_rate, gradient_clip=self.options.gradient_clip
        )
        return learner

    def actor(self, nets: Mapping[str, nn.Module]) -> Policy:
        return SeatPolicy(nets)

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        joined = join_teams(buffer.newest)
        batch, critic = team_batch(joined, learner), learner.nets[CRITIC]
        assert isinstance(critic, StateCritic)
        batch["central"] = critic.central(batch)
        with torch.no_grad():
            batch["value"] = critic(batch["central"])
        joined = joined.with_columns({"value": batch["value"].cpu().numpy()})
        targets = gae(joined, self.options.gamma, self.options.gae_lambda)
        trainable = joined.trainable
        self._aim(learner, batch, targets, trainable)
        spread, measured = return_spread(targets.returns[trainable]), Measured()
        epochs, kl = 0, 0.0
        while epochs < self.options.epochs and not (self.options.target_kl and kl > 1.5 * self.options.target_kl):
            epochs += 1
            for rows in np.array_split(rng.permutation(trainable), self.minibatches):
                learner.optimisers[POLICY].clear()
                if len(rows):
                    part = take(batch, learner.tensor(rows))
                    found = self.gradients(learner, part, spread)
                    found.backward()
                    measured.append(found.means)
                    kl = float(found.means[0][0])
                kl = learner.step(reduced_scalar=kl)
                yield {}
        yield {
            "epochs": float(epochs),
            **minibatch_means(_MEASURED, measured),
            "explained_variance": explained_variance(joined.values[trainable], targets.returns[trainable]),
            "rows": float(len(trainable)),
        }

    def _aim(self, learner: Learner, batch: Batch, targets: Targets, trainable: np.ndarray) -> None:
        """Put advantages and returns into the batch."""
        advantages = targets.advantages
        if self.options.normalise_advantages and len(trainable) > 1:
            known = advantages[trainable]
            advantages = (advantages - known.mean()) / (known.std() + np.float32(1e-8))
        batch["advantage"], batch["return"] = learner.tensor(advantages), learner.tensor(targets.returns)

    def gradients(self, learner: Learner, batch: Batch, spread: float) -> TeamGradients:
        """The policies' outputs and the critic's values, and the gradients of the loss at them."""
        options, present = self.options, batch["present"].flatten().float()
        with learner.autocast():
            outputs, _ = SeatNets(learner.all_nets()).joint(batch.obs, batch.legal)
            values = learner.nets[CRITIC](batch["central"]).float()
        outputs = outputs.flatten(0, 1).float()
        count = max(1.0, float(present.sum()))
        with torch.no_grad():
            actions = batch["action"].flatten(0, 1)
            terms = head_terms(head_of(learner.model), outputs.detach().t().contiguous(), actions)
            shift = log_ratio(terms.taken, batch["log_prob"].flatten())
            ratio = shift.exp()
            advantages = batch["advantage"].repeat_interleave(batch["present"].shape[1])
            free = unclipped(ratio, advantages, options.clip)
            error = values - batch["return"]
            kl = ((ratio - 1.0 - shift) * present).sum() / count
            entropy = (terms.entropy * present).sum() / count
            means = torch.stack([kl, entropy, error.square().mean()])
            dloss_dlogp = surrogate_gradient(ratio, advantages, free, present / count)
            at_outputs = terms.gradient(dloss_dlogp, options.entropy / count)
            clip = options.value_clip * spread
            at_values = value_gradient(values.detach(), batch["return"], batch["value"], clip)
            at_values.mul_(options.value_weight / (len(values) * spread**2))
        gradients = at_outputs.t() * present.unsqueeze(1), at_values
        return TeamGradients((outputs, values), gradients, (means, len(values)))
