"""Deep Q-learning (DQN), Mnih et al. 2015.

With double Q-learning (van Hasselt et al., 2016), dueling heads (Wang et al., 2016), n-step returns and prioritised
replay (Schaul et al., 2016) as options.
"""

from __future__ import annotations

import torch
from torch import Tensor

from orchestrator.spec.algorithms.value_based import DqnOptions
from workers.algorithms.value_based.heads import action_value_gradient, action_values, best_actions
from workers.algorithms.value_based.learning import Exploring, FromTransitions, Gradient, Step


class Dqn(FromTransitions, Exploring):
    """Learns Q(s, a) towards y = r + gamma^n Q'(s', argmax Q(s', .)), with Q' the target network.

    r is the sum of n discounted rewards; the loss of a row is Huber's or half the square of Q(s, a) - y. Without
    `double` the target network chooses as well.
    """

    Options = DqnOptions
    options: DqnOptions

    def gradient(self, step: Step) -> Gradient:
        options, batch = self.options, step.batch
        taken = batch["action"].unsqueeze(1)
        wanted = q_target(step, options.dueling)
        values = action_values(step.now, batch.legal, options.dueling).gather(1, taken).squeeze(1)
        error = values - wanted
        size = error.abs()
        if options.loss == "huber":
            slope, inside = error.clamp(-1.0, 1.0), size.clamp(max=1.0)
            loss = inside * (size - 0.5 * inside)
        else:
            slope, loss = error, 0.5 * error.square()
        actions = step.now.shape[1] - 1
        return Gradient(action_value_gradient(slope, taken, batch.legal, actions, options.dueling), loss, size, values)


def q_target(step: Step, dueling: bool) -> Tensor:
    """r + discount * Q'(s', best action), [rows]."""
    legal = step.batch.next_legal
    # the mean advantage does not change which action is best
    best = best_actions(step.later[:, :-1], legal)
    later = action_values(step.lagged, legal, dueling).gather(1, best).squeeze(1)
    return torch.addcmul(step.batch["reward"], step.batch["discount"], later)
