"""Behaviour cloning (Pomerleau, 1991): supervised learning of recorded actions."""

from __future__ import annotations

from collections.abc import Mapping

from torch import nn

from orchestrator.spec.algorithms.imitation import BcOptions
from workers.algorithms.imitation.likelihood import log_likelihood
from workers.algorithms.imitation.offline import Losses, Offline
from workers.algorithms.learner import POLICY
from workers.buffers.contract import Batch
from workers.buffers.demonstrations import RETURN


class Bc(Offline):
    """Minimises L = E_D [ -log pi(a|s) - c_H H(pi(.|s)) + c_V (V(s) - G)^2 / 2 ], G the return that followed."""

    Options = BcOptions
    options: BcOptions

    def losses(self, batch: Batch, nets: Mapping[str, nn.Module]) -> Losses:
        taken, entropy, values = log_likelihood(nets[POLICY], batch)
        found: Losses = {"policy_loss": -taken.mean(), "entropy": entropy.mean()}
        loss = found["policy_loss"] - self.options.entropy * found["entropy"]
        if self.options.value_weight:
            found["value_loss"] = 0.5 * (values - batch[RETURN]).square().mean()
            loss = loss + self.options.value_weight * found["value_loss"]
        return {"loss": loss, **found}
