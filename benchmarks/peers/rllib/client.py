"""The benchmark's client of the RLlib process: it sends one JSON command per line."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.rates import Slice
from benchmarks.peers.rllib.venv import ensure_python

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"


@dataclass(frozen=True, kw_only=True)
class RllibSettings:
    """Settings of RLlib's PPO that work well for this game."""

    runners: int = 2
    envs: int = 64
    """Environments of each runner."""
    hidden: tuple[int, ...] = (64, 64)
    batch: int = 4000
    minibatch: int = 512
    epochs: int = 4
    learning_rate: float = 1e-3
    gamma: float = 1.0
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy: float = 0.05
    value_weight: float = 0.5
    grad_clip: float = 0.5
    seed: int = 1

    def __str__(self) -> str:
        return f"{self.runners} runners x {self.envs} envs, batch {self.batch}, minibatch {self.minibatch}"


class RllibFailed(RuntimeError):
    """The rival's process ended; the message has its last lines of output."""


class RllibPeer:
    """RLlib's PPO in self-play, in a process and a Ray of its own."""

    def __init__(self, settings: RllibSettings) -> None:
        python = ensure_python(BUILD / "rllib-venv")
        self._log = BUILD / "rllib-peer.log"
        # Its own Ray: the rival must not join the cluster that this process is configured for.
        variables = {key: value for key, value in os.environ.items() if not key.startswith("RAY_")}
        variables |= {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [python, "-m", "benchmarks.peers.rllib.serve", json.dumps(asdict(settings))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=ROOT,
                env=variables,
            )
        self._answer()

    def train(self, seconds: float) -> Slice:
        answer = self._ask({"do": "train", "seconds": seconds})
        return Slice(steps=int(answer["steps"]), seconds=answer["seconds"])

    def export(self, path: Path) -> None:
        """Write the policy's weights as an .npz."""
        self._ask({"do": "export", "path": str(path)})

    def close(self) -> None:
        process = self._process
        try:
            process.communicate(json.dumps({"do": "stop"}) + "\n", timeout=60)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            process.kill()
            process.wait()

    def _ask(self, command: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._failed() from error
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._failed()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _failed(self) -> RllibFailed:
        return RllibFailed(f"RLlib's process ended: {self._log.read_text()[-2000:]}")
