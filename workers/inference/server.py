"""A policy server without a game loop: one call decides rows of many games and policies.

See docs/decisions/games-and-bots.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from workers.inference.policy import Decider, PolicyOutput


class PolicyServer:
    """Serves policies by name and keeps the recurrent state of each stream (one seat of one game)."""

    def __init__(self, policies: Mapping[str, Decider]) -> None:
        self._policies = dict(policies)
        self._states: dict[Hashable, NDArray[np.float32]] = {}

    def put(self, name: str, policy: Decider) -> None:
        """Serve this policy under the name from now on."""
        self._policies[name] = policy

    def decide(
        self,
        names: Sequence[str],
        streams: Sequence[Hashable],
        observations: NDArray[np.float32],
        legal: NDArray[np.bool_],
        draws: NDArray[np.float32] | None,
    ) -> PolicyOutput:
        """One decision per row, by the policy that the row names; rows of one policy run together."""
        unknown = sorted(set(names) - set(self._policies))
        if unknown:
            raise KeyError(f"no policy {', '.join(unknown)}; served: {', '.join(sorted(self._policies))}")
        count = len(names)
        answer = PolicyOutput(np.empty(count, np.int64), np.empty(count, np.float32), np.empty(count, np.float32))
        for name in dict.fromkeys(names):
            rows = np.array([row for row, other in enumerate(names) if other == name])
            states = self._recall(name, [streams[row] for row in rows])
            part = self._policies[name].decide(
                observations[rows], legal[rows], None if draws is None else draws[rows], states
            )
            answer.actions[rows] = part.actions
            answer.log_probs[rows] = part.log_probs
            answer.values[rows] = part.values
            if part.states is not None:
                self._states.update(zip((streams[row] for row in rows), part.states, strict=True))
        return answer

    def forget(self, streams: Sequence[Hashable]) -> None:
        """Drop the recurrent states of these streams: their games are over."""
        for stream in streams:
            self._states.pop(stream, None)

    def _recall(self, name: str, streams: Sequence[Hashable]) -> NDArray[np.float32] | None:
        size = self._policies[name].state_size
        if not size:
            return None
        fresh = np.zeros(size, np.float32)
        return np.stack([self._states.get(stream, fresh) for stream in streams])
