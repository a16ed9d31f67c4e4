"""Small environments of others' kinds, for the adapters' tests; named there by import path."""

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv


class Guess(gymnasium.Env[int, int]):
    """Guess the seeded number; an episode of at most 5 guesses, cut off by the environment itself."""

    def __init__(self, actions: spaces.Space[Any] | None = None) -> None:
        self.observation_space = spaces.Discrete(3)
        self.action_space = actions or spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.secret, self.guesses = int(self.np_random.integers(4)), 0
        return 0, {"action_mask": np.ones(4, np.int8)}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.guesses += 1
        mask = np.ones(4, np.int8)
        mask[action] = 0
        found = action == self.secret
        return 1 + int(action < self.secret), float(found), found, self.guesses == 5, {"action_mask": mask}


def continuous() -> Guess:
    return Guess(actions=spaces.Box(0, 1, (2,)))


class Survivors(ParallelEnv[str, np.ndarray, int]):
    """Three agents; action 1 leaves the game with a reward of what is on the clock; the last ends it."""

    metadata: ClassVar = {"name": "survivors"}

    def __init__(self, shapes: tuple[int, ...] = (2, 2, 2)) -> None:
        self.possible_agents = ["a", "b", "c"]
        self.shapes = dict(zip(self.possible_agents, shapes, strict=True))

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Box(0, 100, (self.shapes[agent],))

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Discrete(3 if agent == "c" else 2)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.agents, self.clock = list(self.possible_agents), 0
        return self._seen(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, int]) -> Any:
        assert set(actions) == set(self.agents)
        self.clock += 1
        left = {agent: action == 1 for agent, action in actions.items()}
        rewards = {agent: float(self.clock) if gone else 0.0 for agent, gone in left.items()}
        seen = self._seen()
        self.agents = [agent for agent in self.agents if not left[agent]]
        return seen, rewards, left, dict.fromkeys(left, False), {agent: {} for agent in left}

    def _seen(self) -> dict[str, np.ndarray]:
        return {agent: np.array([self.clock, ord(agent)], np.float32) for agent in self.agents}


class Countdown(AECEnv[str, int, int]):
    """Three agents in turn; "b" drops out after its first move, the third move of "c" ends or cuts it."""

    metadata: ClassVar = {"name": "countdown"}

    def __init__(self, cut: bool = False) -> None:
        self.possible_agents = ["a", "b", "c"]
        self.cut = cut

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Dict({"observation": spaces.Discrete(10), "action_mask": spaces.MultiBinary(2)})

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Discrete(2)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.moves = dict.fromkeys(self.agents, 0)
        self.agent_selection = "a"

    def observe(self, agent: str) -> Any:
        return {"observation": self.moves[agent], "action_mask": np.array([1, self.moves[agent] < 2], np.int8)}

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            if self.agents and not any(self.terminations[a] or self.truncations[a] for a in self.agents):
                self.agent_selection = "c"
            return
        self.moves[agent] += 1
        self.rewards = {a: (1.0 if a == agent else -0.5) for a in self.agents}
        if agent == "b":
            self.terminations["b"] = True
            return
        if agent == "c" and self.moves["c"] == 3:
            ended = self.truncations if self.cut else self.terminations
            ended.update(dict.fromkeys(self.agents, True))
        following = {"a": "b" if "b" in self.agents else "c", "c": "a"}
        self.agent_selection = following[agent]
