"""Many policies of one architecture as one batch of matrix products.

Perceptrons run as grouped matmuls. Other modules run by `torch.func.vmap` over their stacked weights.

See docs/decisions/rollouts-and-matches.md.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Hashable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import structlog
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn.functional import linear

from workers.games.spaces import Observations, take
from workers.inference.policy import Policy, PolicyOutput
from workers.models.contract import encode, mask_logits, run_model, sees_raw_images
from workers.models.convres import ConvRes
from workers.models.encoding import Observed, to_device, to_tensors
from workers.models.mlp import IN_PLACE, Mlp
from workers.models.normalised import Normalised

log = structlog.get_logger()


def architecture(policy: Policy) -> Hashable | None:
    """What policies that run as one group have in common; None for a model that runs alone.

    Modules other than perceptrons are alike when the same factory made them with the same options: what a module does
    with its weights cannot be read from it.
    """
    model = policy.model
    if type(policy).decide is not Policy.decide or type(policy).run is not Policy.run:
        return None
    shapes = tuple((name, tuple(tensor.shape), tensor.dtype) for name, tensor in model.state_dict().items())
    if is_perceptron(policy):
        return (
            type(policy),
            type(policy.head),
            policy.signature,
            "mlp",
            isinstance(model, Normalised),
            _perceptron(model).activation,
            shapes,
            sees_raw_images(model),
        )
    if policy.component is None:
        return None
    options = json.dumps(dict(policy.component.options), sort_keys=True, default=repr)
    return (
        type(policy),
        type(policy.head),
        policy.signature,
        policy.component.id,
        options,
        shapes,
        sees_raw_images(model),
    )


def group(policies: Sequence[Policy]) -> PerceptronGroup | FusedGroup | ModuleGroup:
    """The policies as one; rows come in equal blocks, the i-th block for the i-th policy."""
    kinds = {architecture(policy) for policy in policies}
    if len(kinds) != 1 or None in kinds:
        raise ValueError("only policies of one architecture run as a group")
    if is_perceptron(policies[0]):
        return PerceptronGroup(policies)
    fused = type(policies[0].model) is ConvRes and policies[0].device.type == "cpu" and policies[0].model_masks
    return FusedGroup(policies) if fused else ModuleGroup(policies)


def is_perceptron(policy: Policy) -> bool:
    """Whether the policy is a perceptron, with or without normalised observations."""
    return type(_perceptron(policy.model)) is Mlp


class PerceptronGroup:
    """Perceptrons of one shape side by side, with or without normalised observations."""

    state_size = 0

    def __init__(self, policies: Sequence[Policy]) -> None:
        models = [policy.model for policy in policies]
        perceptrons = [_perceptron(model) for model in models]
        self._blocks = len(models)
        self._first = policies[0]
        self._outputs = perceptrons[0].actions
        self._act = IN_PLACE[perceptrons[0].activation]
        with torch.no_grad():
            self._normalisers = [
                torch.stack([part.flatten() for part in parts]).unsqueeze(1)
                for parts in zip(
                    *((model.mean, model.spread) for model in models if isinstance(model, Normalised)), strict=True
                )
            ]
            self._layers = [
                (
                    torch.stack([layer.weight.t() for layer in layers]).contiguous(),
                    torch.stack([layer.bias for layer in layers]).unsqueeze(1).contiguous(),
                )
                for layers in zip(*(model.linears() for model in perceptrons), strict=True)
            ]

    def decide(
        self,
        observations: Observations,
        legal: NDArray[np.bool_] | None,
        draws: NDArray[np.float32] | None,
        states: NDArray[np.float32] | None = None,
        only: NDArray[np.int64] | None = None,
    ) -> PolicyOutput:
        """See `Decider`; the number of rows must be a multiple of the number of policies.

        With `only`, just these rows of the observations are decided; `legal` and `draws` are theirs.
        """
        with torch.inference_mode():
            encoded: Tensor = encode(self._first.model, to_device(to_tensors(observations), self._first.device))
            rows = len(encoded)
            hidden = encoded.reshape(self._blocks, rows // self._blocks, -1)
            if self._normalisers:
                mean, spread = self._normalisers
                hidden = Normalised.bound((hidden - mean) / spread)
            for weight, bias in self._layers[:-1]:
                hidden = self._act(torch.baddbmm(bias, hidden, weight))
            weight, bias = self._layers[-1]
            out = torch.baddbmm(bias, hidden, weight).reshape(rows, -1)
            if only is not None:
                out = out.index_select(0, torch.from_numpy(only).to(out.device))
            mask = None if legal is None else torch.from_numpy(legal).to(out.device)
            logits = mask_logits(self._first.reduce(out[:, : self._outputs]), mask)
            actions, log_probs = self._first.sample(logits, draws)
            return PolicyOutput(actions.cpu().numpy(), log_probs.cpu().numpy(), out[:, self._outputs].cpu().numpy())


class FusedGroup:
    """Convolutional policies in their fast form, block after block.

    A convolution of a few dozen boards fills a core: one call for all, which vmap makes of it, is no quicker.
    """

    state_size = 0

    def __init__(self, policies: Sequence[Policy]) -> None:
        self._first = policies[0]
        models = [policy.model for policy in policies]
        self._networks = [model.inference() for model in models if isinstance(model, ConvRes)]

    def decide(
        self,
        observations: Observations,
        legal: NDArray[np.bool_] | None,
        draws: NDArray[np.float32] | None,
        states: NDArray[np.float32] | None = None,
    ) -> PolicyOutput:
        """See `Decider`; the number of rows must be a multiple of the number of policies."""
        with torch.inference_mode():
            encoded: Tensor = encode(self._first.model, to_tensors(observations))
            mask = None if legal is None else torch.from_numpy(legal)
            size = len(encoded) // len(self._networks)
            parts = []
            for number, network in enumerate(self._networks):
                rows = slice(number * size, (number + 1) * size)
                parts.append(network(encoded[rows], None if mask is None else mask[rows]))
            outputs, values = (torch.cat(columns) for columns in zip(*parts, strict=True))
            actions, log_probs = self._first.sample(outputs, draws)
            return PolicyOutput(actions.numpy(), log_probs.numpy(), values.numpy())


class ModuleGroup:
    """Modules of one architecture, by vmap; one by one where vmap cannot run them."""

    def __init__(self, policies: Sequence[Policy]) -> None:
        self._policies = policies
        self._first = policies[0]
        self.state_size = self._first.state_size
        parameters, buffers = stack_module_state([policy.model for policy in policies])
        self._weights = {f"model.{name}": tensor.detach() for name, tensor in (parameters | buffers).items()}
        self._run = _Run(deepcopy(self._first.model).to("meta"))
        self._works: bool | None = None
        """Whether vmap can run the module; None before the first rows."""

    def decide(
        self,
        observations: Observations,
        legal: NDArray[np.bool_] | None,
        draws: NDArray[np.float32] | None,
        states: NDArray[np.float32] | None = None,
    ) -> PolicyOutput:
        """See `Decider`; the number of rows must be a multiple of the number of policies."""
        if self._works is None:
            return self._try(observations, legal, draws, states)
        decide = self._together if self._works else self._one_by_one
        return decide(observations, legal, draws, states)

    def _try(self, observations: Observations, *rest: Any) -> PolicyOutput:
        """The first rows; an error of the module itself is raised when its policies run one by one."""
        try:
            with warnings.catch_warnings():
                # without a batching rule vmap is a slow loop, and says so in a warning
                warnings.filterwarnings("error", message="There is a performance drop")
                decided = self._together(observations, *rest)
        except Exception as error:
            decided = self._one_by_one(observations, *rest)
            kind = type(self._first.model).__name__
            log.warning("opponents run one by one: vmap cannot run their model", model=kind, problem=str(error))
            self._works = False
            return decided
        self._works = True
        return decided

    def _together(
        self,
        observations: Observations,
        legal: NDArray[np.bool_] | None,
        draws: NDArray[np.float32] | None,
        states: NDArray[np.float32] | None,
    ) -> PolicyOutput:
        device = self._first.device
        with torch.no_grad():  # vmap copies views of the weights, which inference mode forbids
            mask = None if legal is None else torch.from_numpy(legal).to(device)
            inputs = (
                self._split(encode(self._first.model, to_device(to_tensors(observations), device))),
                None if mask is None or not self._first.model_masks else self._split(mask),
                None if states is None else self._split(torch.from_numpy(states).to(device)),
            )
            run = vmap(self._call, in_dims=(0, *(None if part is None else 0 for part in inputs)))
            outputs, values, after = run(self._weights, *inputs)
            outputs = outputs.flatten(0, 1)
            if not self._first.model_masks:
                outputs = mask_logits(self._first.reduce(outputs), mask)
            actions, log_probs = self._first.sample(outputs, draws)
            after = after.flatten(0, 1).cpu().numpy() if self.state_size else None
            return PolicyOutput(actions.cpu().numpy(), log_probs.cpu().numpy(), values.flatten().cpu().numpy(), after)

    def _call(self, weights: dict[str, Tensor], *inputs: Any) -> Any:
        return functional_call(self._run, weights, inputs)

    def _split(self, rows: Observed) -> Any:
        if isinstance(rows, dict):
            return {name: self._split(part) for name, part in rows.items()}
        return rows.reshape(len(self._policies), -1, *rows.shape[1:])

    def _one_by_one(
        self,
        observations: Observations,
        legal: NDArray[np.bool_] | None,
        draws: NDArray[np.float32] | None,
        states: NDArray[np.float32] | None,
    ) -> PolicyOutput:
        parts = []
        count = len(next(iter(observations.values())) if isinstance(observations, dict) else observations)
        size = count // len(self._policies)
        for number, policy in enumerate(self._policies):
            rows = slice(number * size, (number + 1) * size)
            mine: list[Any] = [None if part is None else part[rows] for part in (legal, draws, states)]
            parts.append(policy.decide(take(observations, rows), *mine))
        return PolicyOutput(
            np.concatenate([part.actions for part in parts]),
            np.concatenate([part.log_probs for part in parts]),
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.states for part in parts if part.states is not None]) if self.state_size else None,
        )


class _Run(nn.Module):
    """`run_model` as a module, so that its weights can be exchanged."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        for part in model.modules():
            part.__class__ = _PLAIN.get(type(part), type(part))

    def forward(self, observed: Observed, legal: Tensor | None, state: Tensor | None) -> Any:
        outputs, values, after = run_model(self.model, observed, legal, state)
        return outputs, values, values if after is None else after  # vmap returns tensors only


class _PlainGru(nn.GRUCell):
    """A GRU cell of operations that vmap knows; it does not know the fused cell."""

    def forward(self, inputs: Tensor, state: Tensor | None = None) -> Tensor:
        if state is None:
            state = inputs.new_zeros(len(inputs), self.hidden_size)
        from_inputs = linear(inputs, self.weight_ih, self.bias_ih).chunk(3, -1)
        from_state = linear(state, self.weight_hh, self.bias_hh).chunk(3, -1)
        reset = torch.sigmoid(from_inputs[0] + from_state[0])
        update = torch.sigmoid(from_inputs[1] + from_state[1])
        new = torch.tanh(from_inputs[2] + reset * from_state[2])
        return new + update * (state - new)


class _PlainLstm(nn.LSTMCell):
    """An LSTM cell of operations that vmap knows."""

    def forward(self, inputs: Tensor, states: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        if states is None:
            states = (inputs.new_zeros(len(inputs), self.hidden_size),) * 2
        gates = linear(inputs, self.weight_ih, self.bias_ih) + linear(states[0], self.weight_hh, self.bias_hh)
        enter, forget, candidate, leave = gates.chunk(4, -1)
        cell = torch.sigmoid(forget) * states[1] + torch.sigmoid(enter) * torch.tanh(candidate)
        return torch.sigmoid(leave) * torch.tanh(cell), cell


_PLAIN: dict[type[nn.Module], type[nn.Module]] = {nn.GRUCell: _PlainGru, nn.LSTMCell: _PlainLstm}


def _perceptron(model: nn.Module) -> Any:
    return model.inner if isinstance(model, Normalised) else model
