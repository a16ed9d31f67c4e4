"""ONNX Runtime as the backend of a served version: it runs the network; all other code is the same as with torch."""

from __future__ import annotations

import copy
from dataclasses import replace

import torch
from torch import Tensor, nn

from workers.inference.policy import Places
from workers.models.encoding import Observed
from workers.serving.export.graph import LEGAL, STATE, PolicyGraph
from workers.serving.export.onnx_file import OnnxRun, to_onnx
from workers.serving.export.verification import QUANTISED_TOLERANCE, TOLERANCE, Difference
from workers.serving.versions import ServedVersion


class OnnxNetwork(nn.Module):
    """Stands in for a policy's network. It has no weights of its own."""

    def __init__(self, run: OnnxRun, state_size: int) -> None:
        super().__init__()
        self._run = run
        if state_size:
            self.state_size = state_size

    def compute(
        self, observed: Observed, legal: Tensor | None, state: Tensor | None, places: Places | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """See `Policy.run`."""
        parts = (
            {f"obs/{name}": part for name, part in observed.items()}
            if isinstance(observed, dict)
            else {"obs": observed}
        )
        given = parts | {name: tensor for name, tensor in ((LEGAL, legal), (STATE, state)) if tensor is not None}
        found = {
            name: torch.from_numpy(array) for name, array in self._run({n: t.numpy() for n, t in given.items()}).items()
        }
        return found["outputs"], found["value"], found.get("next_state")


def on_onnx(
    version: ServedVersion, *, quantise: bool = False, tolerance: float | None = None
) -> tuple[ServedVersion, Difference]:
    """The version with its network in ONNX Runtime, and how far it is from torch; refused above the tolerance."""
    graph = PolicyGraph(version.actor, version.spec, acting=False)
    allowed = tolerance if tolerance is not None else QUANTISED_TOLERANCE if quantise else TOLERANCE
    data, difference = to_onnx(graph, tolerance=allowed, quantise=quantise)
    network = OnnxNetwork(OnnxRun(data, graph.output_names), version.actor.state_size)
    policy = copy.copy(version.actor)
    policy.model = network
    policy.run = network.compute  # type: ignore[method-assign]
    return replace(version, actor=policy), difference
