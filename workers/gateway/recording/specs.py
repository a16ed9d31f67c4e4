"""A game's spec as a trial file writes it, so that a recording can be replayed without its trial."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from workers.games.protocol import GameSpec


def spec_mapping(spec: GameSpec) -> dict[str, Any]:
    """What `workers.games.remote.declared_spec` reads."""
    return {
        "observation": space_mapping(spec.observation),
        "action": space_mapping(spec.action),
        "seats": spec.seats,
        "teams": list(spec.teams),
        "max_steps": spec.max_steps,
        "simultaneous": spec.simultaneous,
        "action_names": list(spec.action_names),
    }


def space_mapping(space: spaces.Space[Any]) -> dict[str, Any]:
    """A space as a trial file declares it."""
    match space:
        case spaces.Discrete():
            return {"type": "discrete", "n": int(space.n)}
        case spaces.MultiDiscrete():
            return {"type": "multi_discrete", "n": space.nvec.tolist()}
        case spaces.MultiBinary():
            return {"type": "multi_binary", "n": int(np.prod(space.shape))}
        case spaces.Dict():
            return {"type": "dict", "spaces": {name: space_mapping(part) for name, part in space.spaces.items()}}
        case spaces.Tuple():
            return {"type": "tuple", "spaces": [space_mapping(part) for part in space.spaces]}
        case spaces.Box():
            bounds = {"low": _bound(space.low), "high": _bound(space.high)}
            return {"type": "box", "shape": list(space.shape), "dtype": str(space.dtype), **bounds}
        case _:
            raise ValueError(f"a game that calls in cannot have the space {space}")


def _bound(numbers: Any) -> Any:
    """One number for all, lists of numbers, or None where there is no bound."""
    if np.isinf(numbers).all():
        return None
    flat = np.unique(numbers)
    return flat[0].item() if len(flat) == 1 else numbers.tolist()
