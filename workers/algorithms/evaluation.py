"""Forward and backward passes of a model over rows of a batch.

The algorithms write their gradients down in closed form at the two heads; only the network between the
observations and the heads is differentiated here, by autograd or, for perceptrons, directly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from workers.algorithms.learner import POLICY, Learner
from workers.algorithms.perceptron import backpropagate, hidden_layers
from workers.models.contract import ILLEGAL, encode, run_model, state_size
from workers.models.encoding import Observed, take_rows, to_device, to_tensors
from workers.models.mlp import Mlp
from workers.rollout.batch import PENDING, Experience

Rows = NDArray[np.int64]


class BatchPass(ABC):
    """One batch under one model: call `forward`, then `backward` with the gradients at its outputs."""

    def __init__(self, learner: Learner, batch: Experience, model: nn.Module | None = None) -> None:
        """`model` is the learner's acting network, unless another one is given, which is only run forward."""
        self.learner = learner
        self.model: nn.Module = learner.model if model is None else model
        self.batch = batch
        self.observations: Observed = to_device(to_tensors(batch.observations), learner.device)
        mask = batch.columns.get("legal")
        self.legal = None if mask is None else learner.tensor(mask)
        self._prefetched: tuple[Rows, tuple[Any, Tensor | None]] | None = None

    def minibatches(self, count: int, rng: np.random.Generator) -> Iterator[Rows]:
        """The trainable rows, shuffled, in `count` parts (some empty where rows are fewer)."""
        yield from np.array_split(rng.permutation(self.batch.trainable), count)

    def prefetch(self, rows: Rows) -> None:
        """Read what `forward` of these rows needs, before the weights for it are known."""
        self._prefetched = rows, self._gather(rows)

    @abstractmethod
    def forward(self, rows: Rows) -> tuple[Tensor, Tensor]:
        """Masked outputs [size, rows] and values, detached; `rows` are a part that `minibatches` gave."""

    @abstractmethod
    def backward(self, logits: Tensor, values: Tensor) -> None:
        """Set the learner's gradient from those at the outputs and values of the last `forward`."""

    def _seen(self, rows: Rows) -> tuple[Any, Tensor | None]:
        """What the network is shown of these rows, read now unless it was prefetched."""
        prefetched, self._prefetched = self._prefetched, None
        return prefetched[1] if prefetched is not None and prefetched[0] is rows else self._gather(rows)

    def _gather(self, rows: Rows) -> tuple[Any, Tensor | None]:
        return self._shown(self.learner.tensor(rows))

    def _shown(self, index: Tensor) -> tuple[Observed, Tensor | None]:
        return take_rows(self.observations, index), None if self.legal is None else self.legal.index_select(0, index)


def evaluate(learner: Learner, batch: Experience, model: nn.Module | None = None) -> BatchPass:
    """The evaluation that fits the model: by default the acting network; another one is only run forward."""
    model = learner.model if model is None else model
    if state_size(model):
        return RecurrentBatchPass(learner, batch, model)
    if type(model) is not Mlp:
        return AutogradBatchPass(learner, batch, model)
    return CastBatchPass(learner, batch, model) if learner.autocasts else DirectBatchPass(learner, batch, model)


@torch.no_grad()
def outputs_of(learner: Learner, batch: Experience, model: nn.Module) -> Tensor:
    """The masked outputs [size, rows] of a network on all trainable rows; the other rows are 0.

    A recurrent network starts each sequence from the state that the acting network had there.
    """
    evaluation = evaluate(learner, batch, model)
    (rows,) = evaluation.minibatches(1, np.random.default_rng(0))
    if not len(rows):
        return torch.zeros(1, len(batch), device=learner.device)
    outputs, _ = evaluation.forward(rows)
    found = torch.zeros(len(outputs), len(batch), device=outputs.device)
    return found.index_copy_(1, learner.tensor(rows), outputs)


class AutogradBatchPass(BatchPass):
    """Any feed-forward model."""

    def forward(self, rows: Rows) -> tuple[Tensor, Tensor]:
        seen = self._seen(rows)
        with self.learner.autocast():
            outputs = self.model(*seen)
        self._outputs = tuple(part.float() for part in outputs)
        logits, values = self._outputs
        return logits.detach().t().contiguous(), values.detach()

    def backward(self, logits: Tensor, values: Tensor) -> None:
        self.learner.optimisers[POLICY].clear()
        torch.autograd.backward(self._outputs, (logits.t(), values))


class RecurrentBatchPass(BatchPass):
    """Recurrent models: each sequence is one seat's decisions in one game, from the state stored at its start."""

    def __init__(self, learner: Learner, batch: Experience, model: nn.Module | None = None) -> None:
        super().__init__(learner, batch, model)
        self._states = learner.tensor(batch.states)
        trained = batch.next_row != PENDING
        followed = np.zeros(len(batch), np.bool_)
        followed[batch.next_row[batch.next_row >= 0]] = True
        self._sequence_starts = np.flatnonzero(trained & ~followed)
        # A link into a pending row ends the sequence: that row only bootstraps the value.
        self._next = np.where((batch.next_row >= 0) & trained[batch.next_row], batch.next_row, -1)

    def minibatches(self, count: int, rng: np.random.Generator) -> Iterator[Rows]:
        """Whole sequences of decisions, shuffled, in `count` parts."""
        for heads in np.array_split(rng.permutation(self._sequence_starts), count):
            levels = [heads]
            while len(levels[-1]):
                following = self._next[levels[-1]]
                levels.append(following[following >= 0])
            yield np.concatenate(levels)

    def prefetch(self, rows: Rows) -> None:
        """Reads nothing: a sequence is read step by step."""

    def forward(self, rows: Rows) -> tuple[Tensor, Tensor]:
        outputs: list[tuple[Tensor, Tensor]] = []
        level = rows[np.isin(rows, self._sequence_starts)]
        state = self._states[self.learner.tensor(level)]
        while len(level):
            index = self.learner.tensor(level)
            with self.learner.autocast():
                logits, values, after = run_model(self.model, *self._shown(index), state)
            assert after is not None
            outputs.append((logits.float(), values.float()))
            following = self._next[level]
            state = after.float()[self.learner.tensor(following >= 0)]
            level = following[following >= 0]
        self._outputs = tuple(torch.cat(part) for part in zip(*outputs, strict=True))
        return self._outputs[0].detach().t().contiguous(), self._outputs[1].detach()

    def backward(self, logits: Tensor, values: Tensor) -> None:
        self.learner.optimisers[POLICY].clear()
        torch.autograd.backward(self._outputs, (logits.t(), values))


class DirectBatchPass(BatchPass):
    """Perceptrons, differentiated by hand: at small minibatches autograd's overhead exceeds the arithmetic."""

    model: Mlp

    def __init__(self, learner: Learner, batch: Experience, model: nn.Module | None = None) -> None:
        super().__init__(learner, batch, model)
        self._rows: Tensor = encode(self.model, self.observations).flatten(1)
        linears = self.model.linears()
        self._weights = [layer.weight.detach() for layer in linears]
        self._biases = [layer.bias.detach() for layer in linears]
        self._gradients = [(layer.weight.grad, layer.bias.grad) for layer in linears]
        self._relu = self.model.activation == "relu"

    def _gather(self, rows: Rows) -> tuple[Tensor, Tensor | None]:
        """The rows' observations, and their legal actions [actions, rows]."""
        index = self.learner.tensor(rows)
        legal = None if self.legal is None else self.legal.index_select(0, index).t()
        return self._rows.index_select(0, index), legal

    # Nothing here needs `no_grad`, which is slow to enter: no tensor requires a gradient.

    def forward(self, rows: Rows) -> tuple[Tensor, Tensor]:
        seen, self._legal = self._seen(rows)
        self._inputs = hidden_layers(seen, self._weights, self._biases, relu=self._relu)
        out = self._outputs()
        actions = self.model.actions
        if self._legal is None:
            return out[:actions], out[actions]
        return torch.where(self._legal, out[:actions], ILLEGAL), out[actions]

    def backward(self, logits: Tensor, values: Tensor) -> None:
        error = torch.empty(self.model.actions + 1, len(values), device=values.device)
        if self._legal is None:
            error[:-1] = logits
        else:
            torch.mul(logits, self._legal, out=error[:-1])
        error[-1] = values
        backpropagate(self._narrowed(error).t(), self._inputs, self._weights, self._gradients, relu=self._relu)

    def _outputs(self) -> Tensor:
        """The last layer's outputs [outputs, rows]."""
        return torch.addmm(self._biases[-1].unsqueeze(1), self._weights[-1], self._inputs[-1].t())

    def _narrowed(self, error: Tensor) -> Tensor:
        """The gradient at the outputs, in the type of the products."""
        return error


class CastBatchPass(DirectBatchPass):
    """Perceptrons with `autocast`: products in the narrow type; weights, outputs and gradients stay in float32."""

    def __init__(self, learner: Learner, batch: Experience, model: nn.Module | None = None) -> None:
        super().__init__(learner, batch, model)
        self._wide, self._wide_biases = self._weights, self._biases
        self._rows = self._rows.to(learner.compute_type)

    def forward(self, rows: Rows) -> tuple[Tensor, Tensor]:
        kind = self.learner.compute_type
        self._weights = [weight.to(kind) for weight in self._wide]
        self._biases = [bias.to(kind) for bias in self._wide_biases]
        return super().forward(rows)

    def _outputs(self) -> Tensor:
        return super()._outputs().float()

    def _narrowed(self, error: Tensor) -> Tensor:
        return error.to(self.learner.compute_type)
