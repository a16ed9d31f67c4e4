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


def spoken() -> Guess:
    return Guess(actions=spaces.Text(3))


class Survivors(ParallelEnv[str, np.ndarray, int]):
    """Three agents; action 1 leaves the game with a reward of what is on the clock; the last ends it.

    At the clock `limit` all are truncated.
    """

    metadata: ClassVar = {"name": "survivors"}

    def __init__(self, shapes: tuple[int, ...] = (2, 2, 2), limit: int = 0) -> None:
        self.limit = limit
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
        cut = self.clock == self.limit
        self.agents = [] if cut else [agent for agent in self.agents if not left[agent]]
        return seen, rewards, left, dict.fromkeys(left, cut), {agent: {} for agent in left}

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


PARTS = spaces.Dict(
    {
        "camera": spaces.Box(0, 255, (4, 4, 3), np.uint8),
        "joints": spaces.Box(-np.inf, np.inf, (2,), np.float64),
        "mode": spaces.Discrete(3),
        "pair": spaces.Tuple([spaces.MultiBinary(2), spaces.Box(-1, 1, (), np.float32)]),
    }
)
ACTIONS: dict[str, spaces.Space[Any]] = {
    "discrete": spaces.Discrete(3, start=5),
    "several": spaces.MultiDiscrete([2, 3]),
    "binary": spaces.MultiBinary(3),
    "box": spaces.Box(np.array([-1, 0], np.float32), np.array([1, 4], np.float32)),
    "nested": spaces.Dict({"fire": spaces.Discrete(2), "aim": spaces.Box(-1, 1, (2,))}),
}


class Robot(gymnasium.Env[Any, Any]):
    """Any observation and any action: it shows noise from its seed, and pays the sum of the numbers of an action."""

    def __init__(self, actions: str = "box", length: int = 3, scale: float = 1.0, fail_at: int = -1) -> None:
        self.observation_space, self.action_space = PARTS, ACTIONS[actions]
        self.length, self.scale, self.fail_at = length, scale, fail_at

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.at = 0
        return self._shown(), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action), f"{action!r} is not in {self.action_space}"
        self.at += 1
        if self.at == self.fail_at:
            raise ZeroDivisionError("the robot fell")
        paid = float(np.sum(spaces.flatten(self.action_space, action))) * self.scale
        return self._shown(), paid, self.at == self.length, False, {}

    def _shown(self) -> dict[str, Any]:
        draws = self.np_random
        return {
            "camera": draws.integers(0, 256, (4, 4, 3), dtype=np.uint8),
            "joints": draws.random(2),
            "mode": int(draws.integers(3)),
            "pair": (draws.integers(0, 2, 2, dtype=np.int8), np.float32(draws.random())),
        }


class Tug(ParallelEnv[str, np.ndarray, np.ndarray]):
    """Two agents pull at once, each with a force from 0 to 1; after four pulls the one that pulled harder has won."""

    metadata: ClassVar = {"name": "tug"}

    def __init__(self) -> None:
        self.possible_agents = ["left", "right"]

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Dict({"rope": spaces.Box(-4, 4, (1,)), "pulls": spaces.Discrete(5)})

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Box(0, 1, (1,))

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.agents, self.rope, self.pulls = list(self.possible_agents), 0.0, 0
        return self._seen(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, np.ndarray]) -> Any:
        self.rope += float(actions["right"][0] - actions["left"][0])
        self.pulls += 1
        over = self.pulls == 4
        paid = float(np.sign(self.rope)) if over else 0.0
        seen, agents = self._seen(), self.agents
        self.agents = [] if over else agents
        return (
            seen,
            {"left": -paid, "right": paid},
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, False),
            {agent: {} for agent in agents},
        )

    def _seen(self) -> dict[str, Any]:
        own = {"left": -self.rope, "right": self.rope}
        return {agent: {"rope": np.array([own[agent]], np.float32), "pulls": self.pulls} for agent in self.agents}


class Duet(ParallelEnv[str, np.ndarray, int]):
    """Two agents; both get 1 for equal actions, or with `shared=False` only the first."""

    metadata: ClassVar = {"name": "duet"}

    def __init__(self, shared: bool = True) -> None:
        self.possible_agents = ["left", "right"]
        self.shared = shared

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Box(0, 1, (1,))

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Discrete(2)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.agents = list(self.possible_agents)
        return {agent: np.zeros(1, np.float32) for agent in self.agents}, {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, int]) -> Any:
        equal = float(actions["left"] == actions["right"])
        rewards = {"left": equal, "right": equal if self.shared else 0.0}
        over = dict.fromkeys(self.possible_agents, True)
        self.agents = []
        seen = {agent: np.zeros(1, np.float32) for agent in over}
        return seen, rewards, over, dict.fromkeys(over, False), {agent: {} for agent in over}


class Rowers(ParallelEnv[str, np.ndarray, int]):
    """Two agents for `limit` strokes, then cut off; `state()` shows the stroke and its pace."""

    metadata: ClassVar = {"name": "rowers"}
    state_space = spaces.Box(0, 100, (2,), np.float32)

    def __init__(self, limit: int = 3, silent: bool = False) -> None:
        self.possible_agents = ["bow", "stroke"]
        self.limit, self.silent = limit, silent

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Box(0, 100, (1,))

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Discrete(2)

    def state(self) -> np.ndarray:
        assert not self.silent, "nobody should ask"
        return np.array([self.strokes, self.pace], np.float32)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.agents, self.strokes, self.pace = list(self.possible_agents), 0, 0
        return self._seen(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, int]) -> Any:
        self.strokes, self.pace = self.strokes + 1, sum(actions.values())
        agents, cut = self.agents, self.strokes == self.limit
        seen = self._seen()
        self.agents = [] if cut else agents
        rewards = dict.fromkeys(agents, float(self.pace == 2))
        return seen, rewards, dict.fromkeys(agents, False), dict.fromkeys(agents, cut), {agent: {} for agent in agents}

    def _seen(self) -> dict[str, np.ndarray]:
        return {agent: np.array([self.strokes], np.float32) for agent in self.agents}
