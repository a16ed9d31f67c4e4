"""One run of tianshou: settings as JSON in the first argument, the curve as JSON at the end.

Runs in an environment of its own and imports nothing of Lanista. The settings are those of the project's own example
for the environment; the bounds of the returns are widened to hold CartPole's.
"""

import contextlib
import json
import sys
import time
from typing import Any

import gymnasium
import numpy as np
import torch
from tianshou.algorithm.modelfree.c51 import C51Policy
from tianshou.algorithm.modelfree.rainbow import RainbowDQN
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, PrioritizedVectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import NoisyLinear

ENVS, BATCH, ATOMS = 8, 64, 51
GAMMA, EXPLORE, BETA = 0.95, 0.1, 0.4


class Reached(Exception):
    """The target is reached."""


class Curve:
    """Evaluates now and then, and ends the training at the target; the clock stands still meanwhile."""

    def __init__(self, given: dict[str, Any], policy: Any, buffer: Any) -> None:
        self._given, self._policy, self._buffer = given, policy, buffer
        envs = DummyVectorEnv([lambda: gymnasium.make(given["env"]) for _ in range(given["games"])])
        envs.seed(10_000 + given["seed"])
        self._judge = Collector(policy, envs)
        self._due = given["evaluate_every"]
        self._away = 0.0
        self._begun = time.perf_counter()
        self.points: list[tuple[int, float, float]] = []

    def __call__(self, epoch: int, steps: int) -> None:
        """Called before every collection: sets the schedules of the example, and evaluates if it is time."""
        share = min(max((steps - 10_000) / 40_000, 0.0), 1.0)
        self._policy.set_eps_training(EXPLORE * (1.0 - 0.9 * share))
        self._buffer.set_beta(BETA + (1.0 - BETA) * share)
        if steps < self._due:
            return
        paused = time.perf_counter()
        self._due += self._given["evaluate_every"]
        training = self._policy.is_within_training_step
        self._policy.is_within_training_step = False
        self._judge.reset()
        mean = float(np.mean(self._judge.collect(n_episode=self._given["games"]).returns))
        self._policy.is_within_training_step = training
        self.points.append((steps, paused - self._begun - self._away, mean))
        print(self._given["algorithm"], self._given["seed"], self.points[-1], file=sys.stderr, flush=True)
        self._away += time.perf_counter() - paused
        if mean >= self._given["target"] or steps >= self._given["most_steps"]:
            raise Reached


def main() -> None:
    given = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    np.random.seed(given["seed"])
    torch.manual_seed(given["seed"])
    env = gymnasium.make(given["env"])
    envs = DummyVectorEnv([lambda: gymnasium.make(given["env"]) for _ in range(ENVS)])
    envs.seed(given["seed"])

    def noisy(inputs: int, outputs: int) -> NoisyLinear:
        return NoisyLinear(inputs, outputs, 0.1)

    net = Net(
        state_shape=env.observation_space.shape,
        action_shape=int(env.action_space.n),  # type: ignore[attr-defined]
        hidden_sizes=[128, 128, 128, 128],
        softmax=True,
        num_atoms=ATOMS,
        dueling_param=({"linear_layer": noisy}, {"linear_layer": noisy}),
    )
    most = 1.0 / (1.0 - GAMMA)
    policy = C51Policy(model=net, action_space=env.action_space, num_atoms=ATOMS, v_min=0.0, v_max=most)
    algorithm = RainbowDQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=GAMMA,
        n_step_return_horizon=3,
        target_update_freq=320,
    )
    buffer = PrioritizedVectorReplayBuffer(20_000, buffer_num=ENVS, alpha=0.6, beta=BETA, weight_norm=True)
    collector = Collector(algorithm, envs, buffer, exploration_noise=True)
    collector.reset()
    collector.collect(n_step=BATCH * ENVS)
    curve = Curve(given, policy, buffer)
    with contextlib.suppress(Reached):
        algorithm.run_training(
            OffPolicyTrainerParams(
                training_collector=collector,
                max_epochs=1_000,
                epoch_num_steps=8_000,
                collection_step_num_env_steps=ENVS,
                batch_size=BATCH,
                update_step_num_gradient_steps_per_sample=0.125,
                training_fn=curve,
                test_step_num_episodes=0,
                verbose=False,
                show_progress=False,
            )
        )
    print(json.dumps(curve.points))


if __name__ == "__main__":
    main()
