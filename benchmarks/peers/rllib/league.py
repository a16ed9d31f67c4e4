"""RLlib's league-based self-play on connect four, as its example makes it, saved after each iteration.

    python -m benchmarks.peers.rllib.league FOLDER [--restore]

The league is RLlib's own `SelfPlayLeagueBasedCallback`. Each line on stdout is an iteration: its steps, the networks
that the algorithm has, and the members that the callback matches. `--restore` builds it by `Algorithm.from_checkpoint`,
as RLlib's guide on checkpoints says.
"""

import argparse
import functools
import json
import logging
import os
import time
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import ray
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.multi_agent.utils.self_play_league_based_callback import SelfPlayLeagueBasedCallback
from ray.rllib.examples.rl_modules.classes.random_rlm import RandomRLModule

from benchmarks.peers.rllib.game import ACTIONS, ConnectFourEnv
from benchmarks.peers.rllib.module import MaskedMlp

RANDOM = ("main_exploiter_0", "league_exploiter_0")
NAMES = ("main", "main_0", "main_exploiter_0", "main_exploiter_1", "league_exploiter_0", "league_exploiter_1")
WIN_RATE = 0.6
"""At which the league grows: low, so that it has members to lose within a minute. The example says 0.85."""
CHECKPOINT = "checkpoint"


class LegalRandom(RandomRLModule):
    """The example's random player, which in connect four must keep to the legal moves."""

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        legal = np.asarray(batch["obs"])[..., -ACTIONS:] > 0.5
        chosen = [int(np.random.choice(np.flatnonzero(row))) for row in legal.reshape(-1, ACTIONS)]
        return {"actions": np.array(chosen).reshape(legal.shape[:-1])}


def first_mapping(agent_id: int, episode: Any, **kwargs: Any) -> str:
    """At first only main plays, against the random exploiter, as in the example."""
    return "main" if hash(episode.id_) % 2 == agent_id else "main_exploiter_0"


def configure(seed: int) -> PPOConfig:
    """RLlib's league as its example configures it, with the network and the game of the other benchmarks."""
    network = {"module_class": MaskedMlp, "model_config": {"hidden": [64, 64]}}
    drawn = {"module_class": LegalRandom}
    # RLlib takes both, its annotations do not
    league: Any = functools.partial(SelfPlayLeagueBasedCallback, win_rate_threshold=WIN_RATE)
    mapping: Any = first_mapping
    modules = {name: RLModuleSpec(**(drawn if name in RANDOM else network)) for name in NAMES}
    return (
        PPOConfig()
        .environment(ConnectFourEnv, disable_env_checking=True)
        .callbacks(league)
        .env_runners(num_env_runners=2, num_envs_per_env_runner=1)
        .fault_tolerance(restart_failed_env_runners=True)
        .learners(num_learners=0)
        .multi_agent(policies=set(NAMES), policy_mapping_fn=mapping, policies_to_train=["main"])
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=modules))
        .training(train_batch_size_per_learner=2000, minibatch_size=512, num_epochs=4, lr=1e-3, gamma=1.0)
        .debugging(seed=seed, log_level="ERROR")
    )


def members(algorithm: Algorithm) -> dict[str, list[str]]:
    """The networks that the algorithm has, and those that the league's callback knows."""
    found = algorithm.callbacks
    callback = found[0] if isinstance(found, list) else found
    assert isinstance(callback, SelfPlayLeagueBasedCallback)
    known = callback.trainable_policies | callback.non_trainable_policies
    networks = algorithm.env_runner.module.keys()
    return {
        "networks": sorted(networks),
        "league": sorted(known),
        "trained": sorted(callback.trainable_policies),
    }


def run(folder: Path, replies: TextIO, *, restore: bool, seed: int) -> None:
    """Train for ever; a checkpoint after each iteration, then its line."""
    checkpoint = folder / CHECKPOINT
    algorithm = Algorithm.from_checkpoint(str(checkpoint)) if restore else configure(seed).build_algo()

    def tell(**line: Any) -> None:
        replies.write(json.dumps({"at": time.time(), **line, **members(algorithm)}) + "\n")
        replies.flush()

    tell(iteration=algorithm.iteration, steps=_steps(algorithm), built=True)
    while True:
        result = algorithm.train()
        trained = int(result["num_env_steps_sampled_lifetime"])
        tell(iteration=algorithm.iteration, steps=trained, saved=False)
        # written beside the old one: a driver that is killed meanwhile must find a whole checkpoint
        fresh = folder / f"{CHECKPOINT}-{algorithm.iteration}"
        algorithm.save_to_path(str(fresh))
        link = folder / "next"
        link.unlink(missing_ok=True)
        link.symlink_to(fresh.name)
        link.replace(checkpoint)
        tell(iteration=algorithm.iteration, steps=trained, saved=True)


def _steps(algorithm: Algorithm) -> int:
    assert algorithm.metrics is not None
    found = algorithm.metrics.peek(("env_runners", "num_env_steps_sampled_lifetime"), default=0)
    return int(found or 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--restore", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what RLlib and Ray print goes to stderr
    logging.disable(logging.WARNING)
    ray.init(address=os.environ["PEER_RAY_ADDRESS"], log_to_driver=False)
    run(given.folder.resolve(), replies, restore=given.restore, seed=given.seed)


if __name__ == "__main__":
    main()
