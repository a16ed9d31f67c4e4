"""Acts by the best value, or at random: for algorithms that learn the values of actions."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from workers.inference.actor import STATE, Columns
from workers.inference.policy import Policy


class EpsilonGreedy(Policy):
    """Takes a model's logits for the values of actions: the best one, or with the chance `explore` any legal one."""

    def act(self, rows: Columns, draws: NDArray[np.float32] | None, explore: float = 0.0) -> Columns:
        legal = rows["legal"]
        with torch.inference_mode():
            inputs = [torch.from_numpy(rows["obs"]), torch.from_numpy(legal)]
            if self.state_size:
                inputs.append(torch.from_numpy(rows[STATE]))
            values, _, *after = self.model(*inputs)
            actions = values.argmax(1).numpy()
        if draws is not None and explore > 0.0:
            ladder = legal.cumsum(1)
            # the part of a draw below `explore` is uniform again
            wanted = (np.minimum(draws / np.float32(explore), 1.0) * (ladder[:, -1] - 1e-3)).astype(np.int64) + 1
            at_random = (ladder < wanted[:, None]).sum(1)
            actions = np.where(draws < explore, at_random, actions)
        columns = {"action": actions}
        return {**columns, STATE: after[0].numpy()} if after else columns
