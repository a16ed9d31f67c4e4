"""The folder of a run: checkpoints, metrics and the evaluation."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import yaml

from lanista.training.evaluation import EvaluationResult
from lanista.training.generation import Generation
from orchestrator.spec import TrialSpec

METRICS, EVALUATION, TRIAL, SUFFIX = "metrics.csv", "evaluation.json", "trial.yaml", ".safetensors"


class RunFolder:
    """Files that are replaced as a whole, so that an interrupted run leaves none half-written."""

    def __init__(self, path: Path, spec: TrialSpec, name: str) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        text = yaml.safe_dump({"trial": name, **spec.to_json()}, sort_keys=False, allow_unicode=True)
        self._write(TRIAL, text.encode())

    def write_checkpoint(self, player: str, data: bytes | bytearray) -> None:
        """The newest checkpoint of a player."""
        self._write(f"{player}{SUFFIX}", data)

    def write_metrics(self, generations: Sequence[Generation]) -> None:
        """One row for each generation; columns are those of any of them."""
        rows = [each.as_row() for each in generations]
        columns = list(dict.fromkeys(column for row in rows for column in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns)
        writer.writeheader()
        writer.writerows(rows)
        self._write(METRICS, text.getvalue().encode())

    def write_evaluation(self, results: Sequence[EvaluationResult]) -> None:
        self._write(EVALUATION, json.dumps([asdict(result) for result in results], indent=2).encode())

    def _write(self, name: str, data: bytes | bytearray) -> None:
        part = self.path / f".{name}.{os.getpid()}"
        part.write_bytes(data)
        part.replace(self.path / name)
