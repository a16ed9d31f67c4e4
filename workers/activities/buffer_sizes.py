"""How much memory an algorithm's buffer takes: measured on one decision that is taken and recorded."""

from __future__ import annotations

import numpy as np

from orchestrator.spec.algorithms.base import ReplayOptions
from workers.algorithms.contract import Algorithm
from workers.games.protocol import VectorGame
from workers.games.remote import RemoteGame
from workers.games.spaces import columns
from workers.gateway.contract import Episode
from workers.gateway.trajectories import ExperienceQueue
from workers.inference.actor import Actor
from workers.rollout.batch import Experience
from workers.rollout.sampler import Sampler
from workers.rollout.seating import seat


def full_buffer_bytes(algorithm: Algorithm, actor: Actor, game: VectorGame) -> int:
    """Bytes of one full buffer; 0 for algorithms that remember no past experience."""
    if not isinstance(algorithm.options, ReplayOptions):
        return 0
    if isinstance(game, RemoteGame):
        return algorithm.buffer(game.spec).bytes_when_full(_declared_rows(game, actor))
    rng = np.random.default_rng(0)
    game.reset(np.zeros(game.tables, np.uint64))
    sampler = Sampler(
        game=game,
        seating=seat(tables=game.tables, teams=game.spec.teams, shares=[1.0], rng=rng),
        learner=actor,
        steps=1,
        rng=rng,
        central=algorithm.central,
    )
    return algorithm.buffer(game.spec).bytes_when_full(sampler.collect())


def _declared_rows(game: RemoteGame, actor: Actor) -> Experience:
    """One decision of a game that calls in, as its spaces and the actor have it."""
    parts = {name: part.zeros(1) for name, part in game.spec.observation_parts.items()}
    shown = columns(parts[""] if list(parts) == [""] else parts)
    if game.layout.mask_width is not None:
        shown["legal"] = np.ones((1, game.layout.mask_width), np.bool_)
    shown |= {name: np.zeros((1, *shape), np.float32) for name, shape in actor.state_shapes.items()}
    decided = actor.act(shown, np.full(game.layout.draws_shape(1), 0.5, np.float32))
    queue = ExperienceQueue(game.spec)
    queue.put(Episode("", 0, {**decided, **shown, "reward": np.zeros(1, np.float32)}, over=True))
    found = queue.take(1)
    assert found is not None
    return found
