"""Versions of small networks with drawn weights, as bytes of checkpoints."""

from __future__ import annotations

import hashlib
from typing import Any

from orchestrator.catalog import Component
from workers.algorithms.building import fresh_weights
from workers.checkpoints import Checkpoint, encode
from workers.games.names import make_game
from workers.serving.versions import ServedVersion, VersionRecord, load_version

SMALL = {"hidden": [8]}


def checkpoint_bytes(
    seed: int = 1,
    game: str = "tic_tac_toe",
    model: str = "mlp",
    options: dict[str, Any] | None = None,
    algorithm: Component | None = None,
    game_options: dict[str, Any] | None = None,
) -> bytes:
    """A checkpoint with fresh weights."""
    played = Component(id=game, options=game_options or {})
    network = Component(id=model, options=SMALL if options is None else options)
    spec = make_game(game, 1, **played.options).spec
    weights, named = fresh_weights(network, algorithm, spec, seed)
    return encode(Checkpoint(model=network, game=played, weights=weights, algorithm=named))


def record_for(data: bytes, name: str = "main:1", id: str | None = None) -> VersionRecord:
    return VersionRecord(id=name if id is None else id, name=name, sha256=hashlib.sha256(data).hexdigest())


def made_version(name: str = "main:1", seed: int = 1, **kind: Any) -> ServedVersion:
    """A version that is ready to play."""
    data = checkpoint_bytes(seed, **kind)
    return load_version(data, record_for(data, name))
