"""Games that call in: declared by their spec, played in processes of their own through a gateway."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Never

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from workers.games.errors import BadGame
from workers.games.protocol import GameSpec, StepResult, Turn, VectorGame

REMOTE = "remote"


class RemoteGame(VectorGame):
    """The seats and spaces of a game that calls in. It has no tables here: whoever steps it is refused.

    `spec` is the section of a trial file, `agent` names the agents, `name` is what processes of the game ask for, and
    `episode_length` is the agents' where they have none of their own. `dump` says which games are kept.
    """

    def __init__(
        self,
        *,
        tables: int,
        spec: Mapping[str, Any],
        agent: Any = None,
        name: str = "",
        episode_length: int | None = None,
        dump: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(declared_spec(spec, name), tables)
        self.agent, self.name, self.episode_length, self.dump = agent, name, episode_length, dump

    def begin(self, tables: NDArray[np.int64]) -> None:
        """Does nothing: its games begin when they call in."""

    def turn(self) -> Turn:
        self._refuse()

    def advance(self, actions: NDArray[Any]) -> StepResult:
        self._refuse()

    def render_text(self, table: int, seat: int | None = None) -> str:
        self._refuse()

    def _refuse(self) -> Never:
        raise BadGame(
            f"{self.spec.id}: a game that calls in is played in a process of its own; it cannot be stepped, drawn or "
            "replayed here"
        )


def declared_spec(given: Mapping[str, Any], name: str = "") -> GameSpec:
    """The spec that a trial file declares; raises BadGame with what is wrong."""
    declared = dict(given)
    try:
        observation, action = (make_space(declared.pop(part)) for part in ("observation", "action"))
        return GameSpec(
            id=f"{REMOTE}/{name}" if name else REMOTE,
            seats=int(declared.pop("seats", 2)),
            observation=observation,
            action=action,
            max_steps=int(declared.pop("max_steps", 10_000)),
            simultaneous=bool(declared.pop("simultaneous", False)),
            # no random openings (another process plays the game), and what seats see is unknown
            hidden_information=True,
            chance=True,
            teams=tuple(declared.pop("teams", None) or ()),
            action_names=tuple(declared.pop("action_names", ())),
        )
    except KeyError as error:
        raise BadGame(f"{REMOTE}: spec lacks {error}; it needs observation, action and the number of seats") from error


def make_space(given: Mapping[str, Any]) -> spaces.Space[Any]:
    """The space that a mapping of a trial file declares."""
    kind = given["type"]
    if kind == "discrete":
        return spaces.Discrete(int(given["n"]))
    if kind == "multi_discrete":
        return spaces.MultiDiscrete(np.asarray(given["n"], np.int64))
    if kind == "multi_binary":
        return spaces.MultiBinary(int(given["n"]))
    if kind == "dict":
        return spaces.Dict({name: make_space(part) for name, part in given["spaces"].items()})
    if kind == "tuple":
        return spaces.Tuple([make_space(part) for part in given["spaces"]])
    if kind == "box":
        return _box(tuple(given["shape"]), given.get("low"), given.get("high"), np.dtype(given.get("dtype", "float32")))
    raise BadGame(
        f"{REMOTE}: a space of type {kind!r}; allowed: box, discrete, multi_discrete, multi_binary, dict, tuple"
    )


def _box(shape: Sequence[int], low: Any, high: Any, dtype: np.dtype[Any]) -> spaces.Box:
    bounds = []
    for bound, unbounded in ((low, -np.inf), (high, np.inf)):
        if bound is None and not np.issubdtype(dtype, np.floating):
            limits = np.iinfo(dtype)
            unbounded = limits.min if unbounded < 0 else limits.max
        numbers = np.asarray(unbounded if bound is None else bound, np.float64 if bound is not None else None)
        bounds.append(np.broadcast_to(numbers, tuple(shape)).astype(dtype))
    if (bounds[0] > bounds[1]).any():
        raise BadGame(f"{REMOTE}: a box has low above high: {low} and {high}")
    return spaces.Box(bounds[0], bounds[1], tuple(shape), dtype.type)
