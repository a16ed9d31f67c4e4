"""PPO of stable-baselines3 on Breakout for a fixed time: settings as JSON in the first argument, a JSON row at the end.

Runs in an environment of its own and imports nothing of Lanista. The settings are those that the project's own zoo has
for Atari, its learning rate and clip range constant: its schedules run over ten million steps.
"""

import json
import sys
import time
from typing import Any

import ale_py
import gymnasium
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_atari_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecEnv, VecFrameStack

ENV = "BreakoutNoFrameskip-v4"
SETTINGS = {
    "n_steps": 128,
    "n_epochs": 4,
    "batch_size": 256,
    "learning_rate": 2.5e-4,
    "clip_range": 0.1,
    "vf_coef": 0.5,
    "ent_coef": 0.01,
}


class Clock(BaseCallback):  # type: ignore[misc]
    """Says how it goes, and stops when the time is up."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds, self._begun, self._due = seconds, time.perf_counter(), 60.0
        self.points: list[tuple[int, float]] = []

    def _on_step(self) -> bool:
        passed = time.perf_counter() - self._begun
        if passed >= self._due:
            self._due += 60.0
            print(f"  sb3: {self.num_timesteps:,} steps, {passed:.0f} s", file=sys.stderr, flush=True)
        self.points = [(self.num_timesteps, passed)]
        return passed < self._seconds


def environment(envs: int, seed: int, **wrapper: Any) -> VecEnv:
    return VecFrameStack(make_atari_env(ENV, n_envs=envs, seed=seed, wrapper_kwargs=wrapper), n_stack=4)


def main() -> None:
    given = json.loads(sys.argv[1])
    torch.set_num_threads(given["threads"])
    gymnasium.register_envs(ale_py)
    model = PPO("CnnPolicy", environment(8, given["seed"]), seed=given["seed"], device="cpu", **SETTINGS)
    clock = Clock(given["seconds"])
    model.learn(total_timesteps=10**9, callback=clock)
    whole_games = environment(8, 10_000 + given["seed"], terminal_on_life_loss=False, clip_reward=False)
    mean, spread = evaluate_policy(model, whole_games, n_eval_episodes=given["games"], deterministic=False)
    steps, seconds = clock.points[-1]
    print(json.dumps({"steps": steps, "seconds": round(seconds, 1), "return": float(mean), "spread": float(spread)}))


if __name__ == "__main__":
    main()
