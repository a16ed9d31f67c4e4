"""QMIX: monotonic value function factorisation, Rashid et al. 2018."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import elu

from orchestrator.spec.algorithms.cooperative import QmixOptions
from workers.algorithms.cooperative.central import CentralState
from workers.algorithms.cooperative.vdn import Vdn
from workers.buffers.contract import Batch
from workers.games.protocol import GameSpec
from workers.rollout.joint import team_size

MIXER = "mixer"


class Mixer(nn.Module):
    """Q_tot = |W2(s)| elu(|W1(s)| q + b1(s)) + b2(s): no weight is negative, so that d Q_tot / d q_i >= 0."""

    def __init__(self, central: CentralState, mates: int, embedding: int, units: int) -> None:
        super().__init__()
        self.central = central
        self._mates, self._embedding = mates, embedding
        self.first = nn.Sequential(nn.Linear(central.width, units), nn.ReLU(), nn.Linear(units, mates * embedding))
        self.first_bias = nn.Linear(central.width, embedding)
        self.second = nn.Sequential(nn.Linear(central.width, units), nn.ReLU(), nn.Linear(units, embedding))
        self.second_bias = nn.Sequential(nn.Linear(central.width, embedding), nn.ReLU(), nn.Linear(embedding, 1))

    def forward(self, values: Tensor, state: Tensor) -> Tensor:
        """[rows] from the mates' values [rows, mates] and the central state [rows, width]."""
        weights = self.first(state).abs().view(-1, self._mates, self._embedding)
        hidden = elu(torch.baddbmm(self.first_bias(state).unsqueeze(1), values.unsqueeze(1), weights).squeeze(1))
        mixed: Tensor = (hidden * self.second(state).abs()).sum(1) + self.second_bias(state).squeeze(1)
        return mixed


class Qmix(Vdn):
    """VDN with the sum replaced by a network whose weights other networks make from the global state.

    Q_tot(s, u) = f_s(Q_1(o_1, u_1), ..., Q_n(o_n, u_n)) with d f_s / d Q_i >= 0: each mate's best action is still the
    team's, and the value of one mate's action may depend on the state and, monotonically, on what the others do.
    """

    Options = QmixOptions
    options: QmixOptions
    central = True

    def mix(self, nets: Mapping[str, nn.Module], batch: Batch, values: Tensor, after: bool = False) -> Tensor:
        mixer = nets[f"lagged/{MIXER}" if after else MIXER]
        assert isinstance(mixer, Mixer)
        mixed: Tensor = mixer(values, mixer.central(batch, "next/" if after else ""))
        return mixed

    def _mixer(self, spec: GameSpec) -> dict[str, nn.Module]:
        given = self.options
        return {MIXER: Mixer(CentralState(spec), team_size(spec.teams), given.embedding, given.hyper_units)}
