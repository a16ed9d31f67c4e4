"""COMA: counterfactual multi-agent policy gradients, Foerster et al. 2018."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

from orchestrator.spec.algorithms.cooperative import ComaOptions
from workers.algorithms.contract import Algorithm, Metrics, NetFactory, explained_variance, return_spread
from workers.algorithms.cooperative.critics import CRITIC, CounterfactualCritic, take, team_batch
from workers.algorithms.cooperative.gradients import TeamGradients
from workers.algorithms.cooperative.seats import SeatNets, SeatPolicy, check_at_once, make_seats
from workers.algorithms.heads import policy_terms
from workers.algorithms.learner import POLICY, Learner
from workers.algorithms.metrics import Measured, minibatch_means
from workers.algorithms.targets.counterfactual import counterfactual_advantages
from workers.algorithms.targets.gae import gae
from workers.buffers.contract import Batch, Buffer
from workers.games.protocol import GameSpec
from workers.inference.policy import Policy
from workers.rollout.batch import Experience
from workers.rollout.joint import join_teams

_LEAST_SPREAD = 0.1
"""Returns whose deviation is below this are not scaled up further."""
INPUTS, TARGET, ADVANTAGE = "critic_inputs", "target", "advantage"


class Coma(Algorithm):
    """A central critic learns what each action of each mate would have brought while the others keep theirs.

    Mate i learns by grad log pi_i(u_i) A_i with A_i = Q(s, u) - sum_a pi_i(a) Q(s, (u_-i, a)). The critic learns
    TD(lambda) returns of the team's rewards, with the mean of the mates' values of what was done, by a lagged copy.
    """

    Options = ComaOptions
    options: ComaOptions
    recurrent = False
    actions = (spaces.Discrete,)
    equal_steps = True
    central = True

    def check(self, spec: GameSpec) -> None:
        super().check(spec)
        check_at_once(spec)

    def build(self, spec: GameSpec, net: NetFactory) -> Learner:
        given = self.options
        acting = self._acting(spec, net)
        learner = Learner({**acting, CRITIC: CounterfactualCritic(spec, given.critic_hidden)})
        learner.optimiser(nets=tuple(acting), learning_rate=given.learning_rate, gradient_clip=given.gradient_clip)
        learner.optimiser(
            CRITIC, (CRITIC,), learning_rate=given.critic_learning_rate, gradient_clip=given.gradient_clip
        )
        learner.lag(CRITIC, every=given.target_every)
        return learner

    def actor(self, nets: Mapping[str, nn.Module]) -> Policy:
        return SeatPolicy(nets)

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        joined = join_teams(buffer.newest)
        batch, critic, measured = team_batch(joined, learner), learner.nets[CRITIC], Measured()
        assert isinstance(critic, CounterfactualCritic)
        batch[INPUTS] = critic.inputs(batch)
        known, returns = self.targets(learner, joined, batch)
        batch[TARGET] = learner.tensor(returns)
        spread = return_spread(returns[joined.trainable])
        for rows in self._minibatches(joined, rng, self.options.critic_epochs):
            self._step_critic(learner, take(batch, learner.tensor(rows)) if len(rows) else None, spread)
            yield {}
        batch[ADVANTAGE] = self.advantages(learner, batch, joined.trainable)
        for rows in self._minibatches(joined, rng, 1):
            learner.optimisers[POLICY].clear()
            if len(rows):
                part = take(batch, learner.tensor(rows))
                found = self.gradients(learner, part)
                found.backward()
                measured.append(found.means)
            learner.step()
            yield {}
        trained = joined.trainable
        yield {
            **minibatch_means(["entropy"], measured),
            "explained_variance": explained_variance(known[trained], returns[trained]),
            "rows": float(len(trained)),
        }

    def targets(
        self, learner: Learner, joined: Experience, batch: Batch
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The lagged critic's values of what was done, and TD(lambda) returns with them: one a team step.

        Nothing was done at the final observations of truncated games: their value is the policy's mean.
        """
        with torch.no_grad():
            values = learner.lagged(CRITIC)(batch[INPUTS])
            taken = values.gather(2, batch["action"].unsqueeze(2)).squeeze(2)
            if len(joined.finals):
                last = take(batch, learner.tensor(joined.finals))
                outputs = self._team(learner.all_nets()).joint(last.obs, last.legal, last["present"])[0]
                taken[joined.finals] = torch.linalg.vecdot(torch.softmax(outputs, 2), values[joined.finals])
            present = batch["present"].float()
            means = ((taken * present).sum(1) / present.sum(1)).cpu().numpy()
        return means, gae(joined.with_columns({"value": means}), self.options.gamma, self.options.td_lambda).returns

    @torch.no_grad()
    def advantages(self, learner: Learner, batch: Batch, trainable: NDArray[np.int64]) -> Tensor:
        """[rows, mates]: counterfactual advantages under the present critic and policies."""
        values = learner.nets[CRITIC](batch[INPUTS])
        outputs = self._team(learner.all_nets()).joint(batch.obs, batch.legal, batch["present"])[0]
        found = counterfactual_advantages(values, torch.softmax(outputs, 2), batch["action"]) * batch["present"]
        if self.options.normalise_advantages:
            # by the spread of returns: that of advantages goes to 0 as policies become certain, and would amplify noise
            found = found / batch[TARGET][learner.tensor(trainable)].std(correction=0).clamp(min=_LEAST_SPREAD)
        return found

    def gradients(self, learner: Learner, batch: Batch) -> TeamGradients:
        """Outputs of the acting networks, and the gradients of the loss at them."""
        present = batch["present"].flatten().float()
        with learner.autocast():
            outputs = self._team(learner.all_nets()).joint(batch.obs, batch.legal, batch["present"])[0]
        outputs = outputs.flatten(0, 1).float()
        count = max(1.0, float(present.sum()))
        with torch.no_grad():
            terms = policy_terms(outputs.detach().t().contiguous(), batch["action"].reshape(1, -1))
            entropy = (terms.entropy * present).sum(0, keepdim=True) / count
            at_outputs = terms.gradient(batch[ADVANTAGE].flatten() / -count, self.options.entropy / count)
        gradients = (at_outputs.t() * present.unsqueeze(1),)
        return TeamGradients((outputs,), gradients, (entropy, len(batch["present"])))

    def critic_loss(self, learner: Learner, batch: Batch) -> Tensor:
        """The mean squared error of every mate's value of what was done."""
        values: Tensor = learner.nets[CRITIC](batch[INPUTS]).float()
        taken = values.gather(2, batch["action"].unsqueeze(2)).squeeze(2)
        errors = (taken - batch[TARGET].unsqueeze(1)).square() * batch["present"]
        return errors.sum() / batch["present"].sum()

    def _step_critic(self, learner: Learner, batch: Batch | None, spread: float) -> None:
        learner.optimisers[CRITIC].clear()
        if batch is not None:
            with learner.autocast():
                loss = self.critic_loss(learner, batch) / spread**2
            loss.backward()  # type: ignore[no-untyped-call]
        learner.step(CRITIC)

    def _minibatches(self, joined: Experience, rng: np.random.Generator, epochs: int) -> Iterator[NDArray[np.int64]]:
        for _ in range(epochs):
            yield from np.array_split(rng.permutation(joined.trainable), self.minibatches)

    def _acting(self, spec: GameSpec, net: NetFactory) -> dict[str, nn.Module]:
        """The acting networks by name."""
        return make_seats(spec, net, self.options)

    def _team(self, nets: Mapping[str, nn.Module]) -> SeatNets:
        return SeatNets(nets)
