"""Recurrent networks along sequences [steps, rows, ...]."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from workers.models.contract import encode, run_model
from workers.models.encoding import first_part
from workers.models.gru import GruNet


def unroll(model: nn.Module, observed: Any, legal: Tensor | None, state: Tensor) -> tuple[Tensor, Tensor]:
    """Outputs and values side by side, [steps, rows, outputs + 1], and the state after the last step.

    The built-in GRU runs all steps in one call; any other model runs step by step.
    """
    if type(model) is GruNet:
        return _unroll_gru(model, observed, state)
    found = []
    for step in range(len(first_part(observed))):
        mask = None if legal is None else legal[step]
        outputs, values, after = run_model(model, each(observed, lambda part, at=step: part[at]), mask, state)
        assert after is not None
        state = after
        found.append(torch.cat([outputs, values.unsqueeze(1)], 1))
    return torch.stack(found), state


def each(observed: Any, change: Any) -> Any:
    """The observations with each part changed."""
    return {name: change(part) for name, part in observed.items()} if isinstance(observed, dict) else change(observed)


def followed(observed: Any, later: Any) -> Any:
    """The positions of a sequence, and the one after its last decision: [steps + 1, rows, ...]."""
    if isinstance(observed, dict):
        return {name: torch.cat([part[:1], later[name]]) for name, part in observed.items()}
    return torch.cat([observed[:1], later])


def _unroll_gru(model: GruNet, observed: Any, state: Tensor) -> tuple[Tensor, Tensor]:
    steps, rows = first_part(observed).shape[:2]
    flat: Tensor = encode(model, each(observed, lambda part: part.flatten(0, 1)))
    entering = torch.relu(model.encoder(flat.flatten(1))).view(steps, rows, -1)
    cell = model.cell
    weights = [cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh]
    hidden, after = torch.gru(entering, state.unsqueeze(0), weights, True, 1, 0.0, False, False, False)
    out: Tensor = model.heads(hidden)
    return out, after[0]
