"""Plays with the model of this folder; needs onnxruntime and numpy alone. `python runner.py` tries it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime


class Runner:
    """Plays one game: `act` for each decision, `reset` before the next game."""

    def __init__(self, folder: Path = Path(__file__).parent) -> None:
        self.spec: dict[str, Any] = json.loads((folder / "spec.json").read_text())
        self.session = onnxruntime.InferenceSession(folder / self.spec["model"], providers=["CPUExecutionProvider"])
        self.reset()

    def reset(self) -> None:
        self.state = np.zeros((1, self.spec["state"]), np.float32)

    def act(self, observation: Any, legal: Any = None) -> Any:
        """The best action for one observation: an array, or a dict of the parts that spec.json names."""
        parts = observation if isinstance(observation, dict) else {"": observation}
        feed = {
            part["input"]: np.asarray(parts[part["name"]], part["dtype"])[None] for part in self.spec["observation"]
        }
        if self.spec["legal"]:
            feed["legal"] = np.ones((1, self.spec["legal"]), bool) if legal is None else np.asarray(legal, bool)[None]
        if self.spec["state"]:
            feed["state"] = self.state
        found = dict(zip(self.spec["outputs"], self.session.run(self.spec["outputs"], feed), strict=True))
        self.state = found.get("next_state", self.state)
        return found["action"][0]


if __name__ == "__main__":
    runner = Runner()
    print(runner.act({part["name"]: np.zeros(part["shape"]) for part in runner.spec["observation"]}))
