"""The rival's network: the same shape as Lanista's MLP, one trunk with a policy and a value head."""

from typing import Any

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import Tensor, nn

from benchmarks.peers.rllib.game import ACTIONS, OBSERVATION


class MaskedMlp(TorchRLModule, ValueFunctionAPI):
    """Trunk of `model_config["hidden"]` units with relu; illegal moves get a logit whose probability is 0."""

    def setup(self) -> None:
        super().setup()  # type: ignore[no-untyped-call]
        layers: list[nn.Module] = []
        width = OBSERVATION
        assert isinstance(self.model_config, dict)
        for units in self.model_config["hidden"]:
            layers += [nn.Linear(width, units), nn.ReLU()]
            width = units
        self.trunk = nn.Sequential(*layers)
        self.policy = nn.Linear(width, ACTIONS)
        self.value = nn.Linear(width, 1)

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Tensor]:
        _, logits = self._logits(batch[Columns.OBS])
        return {Columns.ACTION_DIST_INPUTS: logits}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Tensor]:
        embedding, logits = self._logits(batch[Columns.OBS])
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: embedding}

    def compute_values(self, batch: dict[str, Any], embeddings: Tensor | None = None) -> Tensor:
        if embeddings is None:
            embeddings = self.trunk(batch[Columns.OBS][..., :OBSERVATION])
        values: Tensor = self.value(embeddings)
        return values.squeeze(-1)

    def _logits(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        embedding = self.trunk(rows[..., :OBSERVATION])
        illegal = rows[..., OBSERVATION:] < 0.5
        logits: Tensor = self.policy(embedding)
        return embedding, torch.where(illegal, -1e9, logits)
