"""The rival as a process: settings as JSON in the first argument, then one JSON command per line on stdin.

{"do": "train", "seconds": 5}   -> {"seconds": ..., "steps": ..., "iterations": ...}
{"do": "export", "path": ...}   -> {"path": ...}, the policy's weights as an .npz
{"do": "stop"}
"""

import json
import logging
import os
import sys
import time
from typing import Any, TextIO

import numpy as np
import ray
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec

from benchmarks.peers.rllib.game import ConnectFourEnv
from benchmarks.peers.rllib.module import MaskedMlp

_POLICY = "shared"
_STEPS = "num_env_steps_sampled"


def configure(settings: dict[str, Any]) -> PPOConfig:
    """RLlib's PPO with one policy for both seats, on the new API stack."""
    return (
        PPOConfig()
        .environment(ConnectFourEnv, disable_env_checking=True)
        .env_runners(
            num_env_runners=settings["runners"],
            num_envs_per_env_runner=settings["envs"],
            rollout_fragment_length="auto",
        )
        .learners(num_learners=0)
        .multi_agent(policies={_POLICY}, policy_mapping_fn=lambda agent, episode, **kwargs: _POLICY)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedMlp, model_config={"hidden": settings["hidden"]}))
        .training(
            train_batch_size_per_learner=settings["batch"],
            minibatch_size=settings["minibatch"],
            num_epochs=settings["epochs"],
            lr=settings["learning_rate"],
            gamma=settings["gamma"],
            lambda_=settings["gae_lambda"],
            clip_param=settings["clip"],
            entropy_coeff=settings["entropy"],
            vf_loss_coeff=settings["value_weight"],
            grad_clip=settings["grad_clip"],
            use_kl_loss=False,
        )
        .debugging(seed=settings["seed"], log_level="ERROR")
        .reporting(min_time_s_per_iteration=0)
    )


def train(algorithm: Algorithm, seconds: float) -> dict[str, float]:
    """Whole iterations (sample a batch, learn from it) until the time is up."""
    iterations = steps = 0
    begin = time.perf_counter()
    while (elapsed := time.perf_counter() - begin) < seconds:
        steps += int(algorithm.train()["env_runners"][_STEPS])
        iterations += 1
    return {"seconds": elapsed, "steps": steps, "iterations": iterations}


def export(algorithm: Algorithm, path: str) -> dict[str, str]:
    """The network's parameters under torch's names, as an .npz."""
    module = algorithm.get_module(_POLICY)
    assert isinstance(module, MaskedMlp)
    state = module.state_dict()
    np.savez(path, **{name: tensor.cpu().numpy() for name, tensor in state.items()})
    return {"path": path}


def serve(settings: dict[str, Any], commands: TextIO, replies: TextIO) -> None:
    def reply(message: dict[str, Any]) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    algorithm = configure(settings).build_algo()
    reply({"ready": True})
    for line in commands:
        command = json.loads(line)
        if command["do"] == "train":
            reply(train(algorithm, command["seconds"]))
        elif command["do"] == "export":
            reply(export(algorithm, command["path"]))
        else:
            break
    algorithm.stop()


def main() -> None:
    # Everything RLlib and Ray print goes to stderr: stdout carries the replies alone.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    logging.disable(logging.WARNING)
    settings = json.loads(sys.argv[1])
    # More logical CPUs than cores, so that runners never wait for a slot: the cores decide.
    ray.init(address="local", num_cpus=16, include_dashboard=False, log_to_driver=False)
    serve(settings, sys.stdin, replies)
    ray.shutdown()


if __name__ == "__main__":
    main()
