"""CartPole without velocities: a partially observable task for recurrent models.

Known to Gymnasium as `lanista/CartPolePOMDP-v1`: `game: {id: gymnasium, env: lanista/CartPolePOMDP-v1}`.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.classic_control.cartpole import CartPoleEnv, CartPoleVectorEnv
from gymnasium.vector import VectorObservationWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

CART_POLE_POMDP = "lanista/CartPolePOMDP-v1"
_SHOWN = [0, 2]
"""The position of the cart and the angle of the pole."""


class CartPolePomdp(gymnasium.ObservationWrapper[NDArray[np.float32], Any, NDArray[np.float32]]):
    """CartPole-v1 whose observations are the cart's position and the pole's angle alone."""

    def __init__(self, **options: Any) -> None:
        super().__init__(CartPoleEnv(**options))
        self.observation_space = _shown_space(self.env.observation_space)

    def observation(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        return observation[_SHOWN]


class CartPolePomdpVector(VectorObservationWrapper):
    """Many of them, stepped as one array."""

    def __init__(self, num_envs: int = 1, **options: Any) -> None:
        super().__init__(CartPoleVectorEnv(num_envs=num_envs, **options))
        self.single_observation_space = _shown_space(self.env.single_observation_space)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def observations(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.ascontiguousarray(observations[:, _SHOWN])


def register() -> None:
    """Make the environment known to Gymnasium by its id."""
    if CART_POLE_POMDP not in gymnasium.registry:
        gymnasium.register(
            CART_POLE_POMDP,
            entry_point=CartPolePomdp,
            vector_entry_point=CartPolePomdpVector,
            max_episode_steps=500,
            reward_threshold=475.0,
        )


def _shown_space(whole: spaces.Space[Any]) -> Any:
    assert isinstance(whole, spaces.Box)
    return spaces.Box(whole.low[_SHOWN], whole.high[_SHOWN], dtype=np.float32)
