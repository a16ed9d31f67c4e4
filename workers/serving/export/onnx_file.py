"""ONNX: written by torch's exporter, run by ONNX Runtime, verified against torch before it is used."""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from workers.serving.export.errors import NotExportable, require_onnx
from workers.serving.export.graph import Inputs, PolicyGraph, traced
from workers.serving.export.verification import Difference, check, compare

OPSET = 18


def to_onnx(
    graph: PolicyGraph, *, tolerance: float, quantise: bool = False, program: torch.export.ExportedProgram | None = None
) -> tuple[bytes, Difference]:
    """The graph as an ONNX file, and how far it is from torch; refused above the tolerance."""
    require_onnx()
    data = _written(graph, program or traced(graph))
    if quantise:
        data = _quantised(data)
    difference = compare(graph, OnnxRun(data, graph.output_names))
    check(difference, tolerance, "the quantised ONNX model" if quantise else "the ONNX model")
    return data, difference


class OnnxRun:
    """Runs an ONNX file in ONNX Runtime, on one thread: many sessions share the cores of a gateway."""

    def __init__(self, data: bytes, outputs: list[str], threads: int = 1) -> None:
        require_onnx(["onnxruntime"])
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        self._outputs = outputs

    def __call__(self, inputs: Inputs) -> Inputs:
        return dict(zip(self._outputs, self._session.run(self._outputs, inputs), strict=True))


def _written(graph: PolicyGraph, program: torch.export.ExportedProgram) -> bytes:
    try:
        with _quiet():
            written = torch.onnx.export(
                program,
                input_names=graph.input_names,
                output_names=graph.output_names,
                opset_version=OPSET,
                dynamo=True,
                verbose=False,
            )
            assert written is not None
            model = written.model_proto
            # shapes of inner values, which the exporter's optimiser leaves stale and ONNX Runtime infers by itself
            model.graph.ClearField("value_info")
            return bytes(model.SerializeToString())
    except Exception as error:  # the exporter raises many kinds, and the model may be a user's
        raise NotExportable(f"torch cannot write its network as ONNX: {type(error).__name__}: {error}") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporter, which warns of its own insides and of packages that no model here needs."""
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)


def _quantised(data: bytes) -> bytes:
    """Weights as 8-bit integers; activations are quantised while it runs."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory() as folder:
        whole, small = Path(folder, "whole.onnx"), Path(folder, "small.onnx")
        whole.write_bytes(data)
        with _quiet():
            quantize_dynamic(whole, small, weight_type=QuantType.QInt8)
        return small.read_bytes()
