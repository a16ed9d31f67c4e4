"""A policy as one graph of tensors, with named inputs and outputs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

from workers.games.protocol import GameSpec
from workers.games.spaces import ActionLayout, Part
from workers.inference.policy import Policy
from workers.models.contract import mask_logits
from workers.serving.export.errors import NotExportable

LEGAL, STATE, NEXT_STATE = "legal", "state", "next_state"
Inputs = dict[str, NDArray[Any]]


class PolicyGraph(nn.Module):
    """What a policy computes for rows: its network's outputs, and the best action where it is `acting`.

    Inputs: "obs", or "obs/<part>" of each part; "legal" where actions have masks; "state" of a recurrent model.
    Outputs: "action" if it is acting; "outputs" and "value" of the network; "next_state" of a recurrent model.
    """

    def __init__(self, policy: Policy, spec: GameSpec, *, acting: bool = True) -> None:
        super().__init__()
        if policy.placed:
            raise NotExportable(
                "its policy lets mates of a team talk: rows depend on each other and on their seats, which a graph of "
                "single rows cannot say"
            )
        self.policy, self.spec, self.acting = policy, spec, acting
        self.network = policy.model
        self.masked = ActionLayout(spec.action).mask_width if acting or policy.model_masks else None
        self.input_names = [f"obs/{name}" if name else "obs" for name in spec.observation_parts]
        self.input_names += [LEGAL] if self.masked else []
        self.input_names += [STATE] if policy.state_size else []
        self.output_names = ["action"] if acting else []
        self.output_names += ["outputs", "value"] + ([NEXT_STATE] if policy.state_size else [])

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        given = dict(zip(self.input_names, tensors, strict=True))
        policy, legal = self.policy, given.get(LEGAL)
        parts = {name.removeprefix("obs/"): part for name, part in given.items() if name.startswith("obs/")}
        outputs, value, after = policy.run(
            parts or given["obs"], legal if policy.model_masks else None, given.get(STATE), None
        )
        if self.acting and not policy.model_masks:
            outputs = mask_logits(policy.reduce(outputs), legal)
        action = (policy.sample(outputs, None)[0],) if self.acting else ()
        return (*action, outputs, value) if after is None else (*action, outputs, value, after)

    def example(self, rows: int, seed: int = 0) -> Inputs:
        """Rows of inputs as the spaces allow them, drawn from a seed."""
        rng = np.random.default_rng(seed)
        parts = self.spec.observation_parts
        found = {f"obs/{name}" if name else "obs": _draw(part, rows, seed) for name, part in parts.items()}
        if self.masked:
            found[LEGAL] = _masks(ActionLayout(self.spec.action), rows, rng)
        if self.policy.state_size:
            found[STATE] = rng.normal(0, 0.5, (rows, self.policy.state_size)).astype(np.float32)
        return found

    def tensors(self, inputs: Inputs) -> tuple[Tensor, ...]:
        """Inputs in the order of `input_names`."""
        return tuple(torch.from_numpy(np.ascontiguousarray(inputs[name])) for name in self.input_names)

    def run(self, inputs: Inputs) -> Inputs:
        """What torch computes for these inputs."""
        with torch.inference_mode():
            outputs = self(*self.tensors(inputs))
        return {name: tensor.numpy() for name, tensor in zip(self.output_names, outputs, strict=True)}


def traced(graph: PolicyGraph) -> torch.export.ExportedProgram:
    """The graph as torch.export has it, for any number of rows."""
    rows = torch.export.Dim("rows", min=1, max=2**20)
    shapes = {"tensors": tuple({0: rows} for _ in graph.input_names)}
    graph.eval()
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns about its own internals
            return torch.export.export(graph, graph.tensors(graph.example(4)), dynamic_shapes=shapes, strict=False)
    except Exception as error:  # torch raises many types, and a user's model may raise any
        words = f"{type(error).__name__}: {str(error).strip().partition(chr(10) * 2)[0]}"
        if "specialized it to be a constant" in words:
            words += "; a model for any number of rows says `x.shape[0]`, not `len(x)`"
        raise NotExportable(f"torch.export cannot follow its network: {words}") from error


def _draw(part: Part, rows: int, seed: int) -> NDArray[Any]:
    space = part.space
    if isinstance(space, spaces.Box) and np.issubdtype(part.dtype, np.floating):
        low = np.maximum(np.nan_to_num(space.low, neginf=-3), -3)
        high = np.minimum(np.nan_to_num(space.high, posinf=3), 3)
        drawn = np.random.default_rng(seed).uniform(low, np.maximum(high, low), (rows, *part.shape))
        return drawn.astype(part.dtype)
    space.seed(seed)
    return np.stack([np.asarray(space.sample(), part.dtype) for _ in range(rows)]).reshape(rows, *part.shape)


def _masks(layout: ActionLayout, rows: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Random masks that allow at least one value of each number."""
    masks = rng.random((rows, layout.mask_width or 0)) < 0.7
    for at in layout.mask_slices():
        masks[np.arange(rows), at.start + rng.integers(0, at.stop - at.start, rows)] = True
    return masks
