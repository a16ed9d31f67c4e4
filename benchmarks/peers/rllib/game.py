"""OpenSpiel's connect four as an RLlib multi-agent environment, with the legal moves behind the observation."""

from typing import Any

import gymnasium as gym
import numpy as np
import pyspiel
from ray.rllib.env.multi_agent_env import MultiAgentEnv

OBSERVATION = 126
ACTIONS = 7

Rows = dict[Any, Any]
"""A value for each agent."""


class ConnectFourEnv(MultiAgentEnv):
    """Two agents in turns. One flat row (observation, then mask) spares RLlib the cost of nested spaces."""

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._game = pyspiel.load_game("connect_four")
        self._state = self._game.new_initial_state()
        self.agents = self.possible_agents = [0, 1]
        row = gym.spaces.Box(0.0, 1.0, (OBSERVATION + ACTIONS,), np.float32)
        self.observation_spaces = dict.fromkeys(self.agents, row)
        self.action_spaces = dict.fromkeys(self.agents, gym.spaces.Discrete(ACTIONS))

    # RLlib's and Gymnasium's types contradict each other in what follows.
    def reset(self, *, seed: int | None = None, options: Rows | None = None) -> tuple[Rows, Rows]:
        self._state = self._game.new_initial_state()
        return self._to_move(), {}

    def step(self, action_dict: Rows) -> tuple[Rows, Rows, Rows, Rows, Rows]:  # type: ignore[override]
        state = self._state
        state.apply_action(int(action_dict[state.current_player()]))
        over = state.is_terminal()
        rewards = dict(enumerate(state.returns())) if over else {}
        observations = {} if over else self._to_move()
        return observations, rewards, {"__all__": over}, {"__all__": False}, {}

    def _to_move(self) -> Rows:
        state = self._state
        seat = state.current_player()
        row = np.empty(OBSERVATION + ACTIONS, np.float32)
        row[:OBSERVATION] = state.observation_tensor(seat)
        row[OBSERVATION:] = state.legal_actions_mask(seat)
        return {seat: row}
