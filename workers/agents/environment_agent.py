"""The agent of environments that `lanista simulator` runs: any spaces, and all seats in one session."""

from __future__ import annotations

from typing import Any

import numpy as np

from workers.agents.agent import Agent
from workers.games.protocol import Turn
from workers.games.spaces import columns


def rows_message(turn: Turn) -> dict[str, Any]:
    """The rows of a turn as `EnvironmentAgent` reads them: seats, and the bytes of each part and of the masks."""
    parts = columns(turn.observations)
    return {
        "seats": turn.seats.tolist(),
        "obs": {name.removeprefix("obs").removeprefix("/"): part.tobytes() for name, part in parts.items()},
        "legal": None if turn.legal is None else np.asarray(turn.legal, np.bool_).tobytes(),
    }


class EnvironmentAgent(Agent):
    """Plays any Gymnasium or PettingZoo environment behind `lanista simulator`; name it as the trial file's agent."""

    serializer = "msgpack"

    def on_start(self, data: Any) -> Any:
        """Begin to add up what each seat earns."""
        self._returns = [0.0] * self.spec.seats

    async def on_tick(self, data: Any) -> Any:
        """Decide for each seat that must act now; the actions in the same order, as `ActionLayout` writes them."""
        self._earn(data["rewards"])
        asked = [self.forward(seen, legal, seat=seat) for seat, seen, legal in self._rows(data)]
        row_of = self._runner.codec.row_of
        return [row_of(await each)[0].tolist() for each in asked]

    def on_end(self, data: Any) -> Any:
        """Rewards of the last step; what would have been seen next, where a limit cut the game off."""
        self._earn(data["rewards"])
        self.result(self._returns)  # a game in which nobody earned anything has a result too
        if not data["truncated"]:
            return
        final = self._rows(data["final"]) if data["final"] else []
        if not final:
            self.truncated()
        for seat, seen, legal in final:
            self.truncated(seen, legal, seat=seat)

    def _earn(self, rewards: list[float]) -> None:
        for seat, reward in enumerate(rewards):
            if reward:
                self.reward(reward, seat=seat)
                self._returns[seat] += reward

    def _rows(self, data: Any) -> list[tuple[int, Any, Any]]:
        """Seat, observation and mask of each row."""
        seats, parts = data["seats"], self.spec.observation_parts
        arrays = {
            name: np.frombuffer(data["obs"][name], part.dtype).reshape(len(seats), *part.shape)
            for name, part in parts.items()
        }
        masks = None if data["legal"] is None else np.frombuffer(data["legal"], np.bool_).reshape(len(seats), -1)
        single = arrays.get("") if list(arrays) == [""] else None
        return [
            (
                seat,
                {name: array[row] for name, array in arrays.items()} if single is None else single[row],
                None if masks is None else masks[row],
            )
            for row, seat in enumerate(seats)
        ]
