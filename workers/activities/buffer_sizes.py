"""How much memory an algorithm's buffer takes, found by a decision that is really taken and recorded."""

from __future__ import annotations

import numpy as np

from orchestrator.spec.algorithms.base import ReplayOptions
from workers.algorithms.contract import Algorithm
from workers.games.protocol import VectorGame
from workers.inference.actor import Actor
from workers.rollout.sampler import Sampler
from workers.rollout.seating import seat


def full_buffer_bytes(algorithm: Algorithm, actor: Actor, game: VectorGame) -> int:
    """Bytes of one full buffer; 0 for algorithms that remember no past experience."""
    if not isinstance(algorithm.options, ReplayOptions):
        return 0
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
