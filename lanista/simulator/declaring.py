"""A game's spec as a trial file declares it, for games that call in."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from workers.games.protocol import GameSpec


def declaration(spec: GameSpec) -> dict[str, Any]:
    """The section `spec` of a remote game. Choices are numbered from 0, whatever the environment's own start is."""
    declared = {
        "seats": spec.seats,
        "observation": declared_space(spec.observation),
        "action": declared_space(spec.action),
        "max_steps": spec.max_steps,
        "simultaneous": spec.simultaneous,
    }
    if spec.team_count != spec.seats:
        declared["teams"] = list(spec.teams)
    if spec.action_names:
        declared["action_names"] = list(spec.action_names)
    return declared


def declared_space(space: spaces.Space[Any]) -> dict[str, Any]:
    """One space, as `workers.games.remote.make_space` reads it."""
    if isinstance(space, spaces.Discrete):
        return {"type": "discrete", "n": int(space.n)}
    if isinstance(space, spaces.MultiDiscrete):
        return {"type": "multi_discrete", "n": space.nvec.reshape(-1).tolist()}
    if isinstance(space, spaces.MultiBinary):
        return {"type": "multi_binary", "n": int(np.prod(space.shape))}
    if isinstance(space, spaces.Dict):
        return {"type": "dict", "spaces": {name: declared_space(part) for name, part in space.spaces.items()}}
    if isinstance(space, spaces.Tuple):
        return {"type": "tuple", "spaces": [declared_space(part) for part in space.spaces]}
    assert isinstance(space, spaces.Box)
    box = {"type": "box", "shape": list(space.shape), "dtype": str(space.dtype)}
    return box | {name: bound for name in ("low", "high") if (bound := _bound(getattr(space, name))) is not None}


def _bound(bound: NDArray[Any]) -> Any:
    """One number for all, nested lists, or None where it does not bind."""
    if not np.isfinite(bound).any():
        return None
    if (bound == bound.reshape(-1)[0]).all():
        return bound.reshape(-1)[0].item()
    # a single open side among finite ones is as good as the greatest number of its type
    return np.nan_to_num(bound).tolist()
