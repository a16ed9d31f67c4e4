"""Critics of actions, Q(s, a): one or more side by side."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from workers.algorithms.learner import Learner
from workers.algorithms.passes import AutogradPass, DirectPass, Pass
from workers.models.encoding import Observed
from workers.models.mlp import ACTIVATIONS, Mlp
from workers.models.normalised import Normalised


class Critics(nn.Module):
    """The values that several networks of one kind give an action. Perceptrons are stacked and run as one."""

    def __init__(self, members: Sequence[nn.Module]) -> None:
        """`members` see a Dict of "obs" and "action" and say the action's value by their second output."""
        super().__init__()
        plain = [member.inner if isinstance(member, Normalised) else member for member in members]
        perceptrons = [member for member in plain if type(member) is Mlp]
        self.activation: str | None = None
        if len(perceptrons) < len(plain):
            self.members = nn.ModuleList(plain)
            return
        self.activation = perceptrons[0].activation
        layers = list(zip(*(member.linears() for member in perceptrons), strict=True))
        # the last layer's last row is the value
        chosen = [slice(None)] * (len(layers) - 1) + [slice(-1, None)]
        self.weights = nn.ParameterList(
            torch.stack([each.weight.detach()[rows] for each in layer])
            for layer, rows in zip(layers, chosen, strict=True)
        )
        self.biases = nn.ParameterList(
            torch.stack([each.bias.detach()[rows] for each in layer]).unsqueeze(1)
            for layer, rows in zip(layers, chosen, strict=True)
        )

    def forward(self, observed: Observed, actions: Tensor | None) -> Tensor:
        """[critics, rows, 1]; actions are [rows, numbers], in units in which the bounds are -1 and 1."""
        assert actions is not None
        if self.activation is None:
            shown = {f"obs/{name}": part for name, part in observed.items()} if isinstance(observed, dict) else None
            seen = {**({"obs": observed} if shown is None else shown), "action": actions}
            return torch.stack([member(seen, None)[1] for member in self.members]).unsqueeze(2)
        assert isinstance(observed, Tensor)
        rows = torch.cat((observed.flatten(1), actions), 1)
        layer = rows.expand(len(self.weights[0]), *rows.shape)
        act = ACTIVATIONS[self.activation]
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            layer = act(torch.baddbmm(bias, layer, weight.transpose(1, 2)))
        return torch.baddbmm(self.biases[-1], layer, self.weights[-1].transpose(1, 2))

    def passes(self, learner: Learner) -> Pass:
        """Forward and backward passes of all critics."""
        if self.activation is None or learner.autocasts:
            return AutogradPass(learner, self)
        return DirectPass.of_stack(list(self.weights), list(self.biases), self.activation)

    def first_pass(self, learner: Learner) -> Pass:
        """The first critic alone, for the gradient at its actions."""
        if self.activation is None or learner.autocasts:
            return AutogradPass(learner, lambda observed, actions: self(observed, actions)[:1])
        return DirectPass([part[:1] for part in self.weights], [part[:1] for part in self.biases], self.activation)
