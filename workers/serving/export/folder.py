"""A standalone folder: the model, what it sees and does, the agent that played it, and a program that runs it."""

from __future__ import annotations

import io
import json
import os
import shutil
import uuid
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from gymnasium import spaces
from safetensors.torch import save as save_tensors

from workers.games.protocol import GameSpec
from workers.games.spaces import ActionLayout
from workers.serving.export.errors import ExportError
from workers.serving.export.graph import Inputs, PolicyGraph, traced
from workers.serving.export.onnx_file import to_onnx
from workers.serving.export.verification import QUANTISED_TOLERANCE, TOLERANCE, Difference, check, compare
from workers.serving.versions import ServedVersion

Format = Literal["onnx", "torch", "safetensors"]
SPEC, RUNNER, AGENT = "spec.json", "runner.py", "agent.py"


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What was written."""

    folder: Path
    files: tuple[str, ...]
    difference: Difference | None
    """None for safetensors, which are the weights themselves."""


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """What to write."""

    format: Format = "onnx"
    quantise: bool = False
    tolerance: float | None = None
    agent: str | None = None
    """`module:Class`; None: the agent that the game names, if it names one."""

    @property
    def allowed(self) -> float:
        if self.tolerance is not None:
            return self.tolerance
        return QUANTISED_TOLERANCE if self.quantise else TOLERANCE


def export_version(version: ServedVersion, folder: Path, options: ExportOptions) -> Exported:
    """Write the folder, whole or not at all."""
    if options.quantise and options.format != "onnx":
        raise ExportError(f"quantise: only ONNX models are quantised, not {options.format}")
    graph = PolicyGraph(version.actor, version.spec)
    name, data, difference = _WRITERS[options.format](version, graph, options)
    files = {name: data, **_agent(options.agent or version.agent)}
    if options.format == "onnx":
        files[RUNNER] = Path(__file__).with_name(RUNNER).read_bytes()
    described = _described(version, graph, options, name) | {"agent": AGENT if AGENT in files else None}
    if difference is not None:
        described |= {"difference_from_torch": asdict(difference)}
    files[SPEC] = json.dumps(described, indent=2).encode() + b"\n"
    _write(folder, files)
    return Exported(folder=folder, files=tuple(sorted(files)), difference=difference)


Written = tuple[str, bytes, Difference | None]
Writer = Callable[[ServedVersion, PolicyGraph, ExportOptions], Written]


def _onnx(version: ServedVersion, graph: PolicyGraph, options: ExportOptions) -> Written:
    data, difference = to_onnx(graph, tolerance=options.allowed, quantise=options.quantise)
    return "model.onnx", data, difference


def _torch(version: ServedVersion, graph: PolicyGraph, options: ExportOptions) -> Written:
    kept = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns about its own internals
        torch.export.save(traced(graph), kept)
        again = torch.export.load(io.BytesIO(kept.getvalue())).module()

    def run(inputs: Inputs) -> Inputs:
        with torch.inference_mode():
            outputs = again(*graph.tensors(inputs))
        return {name: tensor.numpy() for name, tensor in zip(graph.output_names, outputs, strict=True)}

    difference = compare(graph, run)
    check(difference, options.allowed, "the exported program")
    return "model.pt2", kept.getvalue(), difference


def _safetensors(version: ServedVersion, graph: PolicyGraph, options: ExportOptions) -> Written:
    """The acting network's weights alone: no optimiser, nothing else that learns."""
    tensors = {name: tensor.contiguous().clone() for name, tensor in version.checkpoint.weights.items()}
    return "model.safetensors", bytes(save_tensors(tensors)), None


_WRITERS: dict[Format, Writer] = {"onnx": _onnx, "torch": _torch, "safetensors": _safetensors}


def _described(version: ServedVersion, graph: PolicyGraph, options: ExportOptions, name: str) -> dict[str, Any]:
    spec, layout, record = version.spec, ActionLayout(version.spec.action), version.record
    model = version.checkpoint.model
    return {
        "format": options.format,
        "quantised": options.quantise,
        "model": name,
        "version": record.name,
        "version_id": record.id,
        "sha256": record.sha256,
        "network": {"id": model.id, "options": dict(model.options)},
        "game": {"id": version.game.id, "seats": spec.seats, "teams": list(spec.teams)},
        "observation": _observation(spec),
        "action": {
            "space": str(spec.action),
            "dtype": str(layout.dtype),
            "shape": list(layout.shape),
            "start": int(spec.action.start) if isinstance(spec.action, spaces.Discrete) else None,
            "names": list(spec.action_names),
        },
        "legal": graph.masked or 0,
        "state": version.actor.state_size,
        "inputs": graph.input_names,
        "outputs": graph.output_names,
    }


def _observation(spec: GameSpec) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "input": f"obs/{name}" if name else "obs",
            "dtype": str(np.dtype(part.dtype)),
            "shape": list(part.shape),
        }
        for name, part in spec.observation_parts.items()
    ]


def _agent(named: str | None) -> dict[str, bytes]:
    """The source of the agent's module, as it is now."""
    if not named:
        return {}
    try:
        found = find_spec(named.partition(":")[0])  # not imported: an export needs the file alone
        if found is None or found.origin is None:
            raise ImportError("there is no such module")
        return {AGENT: Path(found.origin).read_bytes()}
    except (ImportError, OSError, ValueError) as error:
        raise ExportError(f"agent {named!r}: its source is not found here: {error}") from error


def _write(folder: Path, files: dict[str, bytes]) -> None:
    if folder.exists():
        raise ExportError(f"{folder} exists already")
    part = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    try:
        part.mkdir(parents=True)
        for name, data in files.items():
            (part / name).write_bytes(data)
        os.rename(part, folder)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise ExportError(f"{folder} cannot be written: {error.strerror}") from error
