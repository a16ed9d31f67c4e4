"""Builds learners and actors from what a trial names."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from gymnasium import spaces
from torch import Tensor, nn

from orchestrator.catalog import Component
from workers.algorithms.contract import Algorithm, make_algorithm
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.learner import POLICY, Learner
from workers.checkpoints import Checkpoint
from workers.games.protocol import GameSpec
from workers.inference.policy import Policy
from workers.models.box_heads import BoxHead
from workers.models.contract import build_model, drawing, see_raw_images, state_size


def build_learner(algorithm: Algorithm, model: Component, spec: GameSpec, seed: int) -> Learner:
    """The algorithm's learner with fresh weights, drawn from the seed and each network's name."""

    def net(
        name: str,
        *,
        observation: spaces.Space[Any] | None = None,
        outputs: int | None = None,
        head: BoxHead | None = None,
    ) -> nn.Module:
        made = build_model(model, spec, _seed_of(seed, name), observation=observation, outputs=outputs, head=head)
        if not algorithm.recurrent and state_size(made):
            raise BadAlgorithm(
                "it learns from single decisions and needs a model without a recurrent state; ppo learns with one, and "
                "r2d2 the values of actions"
            )
        return made

    algorithm.check(spec)
    with drawing(_seed_of(seed, "")):
        return algorithm.build(spec, net)


def actor_of(checkpoint: Checkpoint, spec: GameSpec) -> Policy:
    """The policy that a checkpoint is, or what its algorithm makes of its networks."""
    if checkpoint.algorithm is None:
        return Policy.from_checkpoint(checkpoint, spec)
    algorithm = make_algorithm(checkpoint.algorithm)
    learner = build_learner(algorithm, checkpoint.model, spec, 0)
    learner.load(checkpoint.weights, checkpoint.learner)
    learner.nets.eval()
    for each in learner.all_nets().values():
        see_raw_images(each, checkpoint.raw_images)
    actor = algorithm.actor(learner.all_nets())
    actor.component = checkpoint.model
    return actor


def acts_by_itself(algorithm: Algorithm) -> bool:
    """Whether the policy network alone says how the player acts, so that checkpoints need not name the algorithm."""
    return type(algorithm).actor is Algorithm.actor


def fresh_weights(
    model: Component, algorithm: Component | None, spec: GameSpec, seed: int
) -> tuple[dict[str, Tensor], Component | None]:
    """Random weights of the acting network, and the algorithm where only it knows how they act."""
    made = None if algorithm is None else make_algorithm(algorithm)
    if made is None or acts_by_itself(made):
        return dict(build_model(model, spec, seed).state_dict()), None
    return build_learner(made, model, spec, seed).weights(), algorithm


def _seed_of(seed: int, name: str) -> int:
    words = [seed, 3] if name == POLICY else [seed, 3, zlib.crc32(name.encode())]
    return int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0] >> np.uint64(1))
