"""One run of stable-baselines3 or sb3-contrib: settings as JSON in the first argument, the curve as JSON at the end.

Runs in an environment of its own and imports nothing of Lanista. The settings are those that the project's own zoo has
for the environment.
"""

import json
import sys
import time
from typing import Any

import gymnasium
import numpy as np
import torch
from sb3_contrib import QRDQN
from stable_baselines3 import A2C, DDPG, DQN, PPO, SAC, TD3
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.noise import NormalActionNoise

CLASSES = {"a2c": A2C, "ddpg": DDPG, "dqn": DQN, "ppo": PPO, "qrdqn": QRDQN, "sac": SAC, "td3": TD3}


def falling(start: float) -> Any:
    """A schedule that falls from `start` to 0 in a straight line."""
    return lambda left: left * start


_REPLAYED = {
    "learning_rate": 2.3e-3,
    "batch_size": 64,
    "buffer_size": 100_000,
    "learning_starts": 1_000,
    "gamma": 0.99,
    "target_update_interval": 10,
    "train_freq": 256,
    "gradient_steps": 128,
    "exploration_fraction": 0.16,
    "exploration_final_eps": 0.04,
}
_PENDULUM = {"learning_rate": 1e-3, "gamma": 0.98, "buffer_size": 200_000, "learning_starts": 10_000, "noise": 0.1}
SETTINGS: dict[tuple[str, str], dict[str, Any]] = {
    ("ppo", "CartPole-v1"): {
        "envs": 8,
        "budget": 100_000,
        "n_steps": 32,
        "batch_size": 256,
        "gae_lambda": 0.8,
        "gamma": 0.98,
        "n_epochs": 20,
        "ent_coef": 0.0,
        "learning_rate": falling(1e-3),
        "clip_range": falling(0.2),
    },
    ("a2c", "CartPole-v1"): {"envs": 8, "budget": 500_000, "ent_coef": 0.0},
    ("dqn", "CartPole-v1"): {"budget": 50_000, **_REPLAYED, "policy_kwargs": {"net_arch": [256, 256]}},
    ("qrdqn", "CartPole-v1"): {
        "budget": 50_000,
        **_REPLAYED,
        "policy_kwargs": {"net_arch": [256, 256], "n_quantiles": 10},
    },
    ("ddpg", "Pendulum-v1"): {"budget": 20_000, **_PENDULUM, "policy_kwargs": {"net_arch": [400, 300]}},
    ("td3", "Pendulum-v1"): {"budget": 20_000, **_PENDULUM, "policy_kwargs": {"net_arch": [400, 300]}},
    ("sac", "Pendulum-v1"): {"budget": 20_000, "learning_rate": 1e-3},
    ("sac", "HalfCheetah-v4"): {"budget": 1_000_000, "learning_starts": 10_000},
    ("td3", "HalfCheetah-v4"): {
        "budget": 1_000_000,
        "learning_starts": 10_000,
        "learning_rate": 1e-3,
        "noise": 0.1,
        "policy_kwargs": {"net_arch": [400, 300]},
    },
}
"""`envs`: environments side by side; `budget`: steps that schedules are spread over; the rest are the class's."""


class Curve(BaseCallback):  # type: ignore[misc]
    """Evaluates now and then, and stops at the target; the clock stands still meanwhile."""

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__()
        self._given = given
        self._env = make_vec_env(given["env"], n_envs=1, seed=10_000 + given["seed"])
        self._due = given["evaluate_every"]
        self._away = 0.0
        self._begun = time.perf_counter()
        self.points: list[tuple[int, float, float]] = []

    def _on_step(self) -> bool:
        if self.num_timesteps < self._due:
            return True
        paused = time.perf_counter()
        self._due += self._given["evaluate_every"]
        returns = evaluate_policy(self.model, self._env, n_eval_episodes=self._given["games"], deterministic=True)[0]
        self.points.append((self.num_timesteps, paused - self._begun - self._away, float(returns)))
        print(self._given["algorithm"], self._given["seed"], self.points[-1], file=sys.stderr, flush=True)
        self._away += time.perf_counter() - paused
        return bool(returns < self._given["target"])


def main() -> None:
    given = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    settings = dict(SETTINGS[given["algorithm"], given["env"]])
    env = make_vec_env(given["env"], n_envs=settings.pop("envs", 1), seed=given["seed"])
    budget = max(settings.pop("budget"), 1)
    if "noise" in settings:
        zeros = np.zeros_like(gymnasium.make(given["env"]).action_space.sample())
        settings["action_noise"] = NormalActionNoise(zeros, zeros + settings.pop("noise"))
    model = CLASSES[given["algorithm"]]("MlpPolicy", env, seed=given["seed"], device="cpu", **settings)
    curve = Curve(given)
    # Its schedules run over the budget that the zoo gives; where that did not suffice it goes on to the last step.
    model.learn(total_timesteps=min(budget, given["most_steps"]), callback=curve)
    if curve.points[-1][2] < given["target"] and budget < given["most_steps"]:
        model.learn(given["most_steps"] - model.num_timesteps, callback=curve, reset_num_timesteps=False)
    print(json.dumps(curve.points))


if __name__ == "__main__":
    main()
