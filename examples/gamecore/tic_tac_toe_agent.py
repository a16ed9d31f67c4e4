"""The agent of the tic-tac-toe in C++: the same file trains in a league, plays its gates and serves."""

from typing import Any

import numpy as np

from lanista.agents import Agent
from lanista.recordings import RecordedTick

SHADES = {".": 235, "m": 20, "o": 130}


class TicTacToe(Agent):
    """Turns nine letters into what the model sees, and the model's action into a square."""

    def on_start(self, data: Any) -> Any:
        """Tell the game which seat it plays by itself: one that the league has no model for, or one it asks for."""
        asked = (data or {}).get("solver")
        outside = [seat for seat, player in enumerate(self.seats) if player.model is None]
        self.solver: int | None = outside[0] if outside else asked
        return {"solver": self.solver}

    async def on_tick(self, data: Any) -> Any:
        """One decision: two planes of marks, and a mask of the free squares."""
        letters = np.array(list(data["board"]))
        seen = np.stack([letters == "m", letters == "o"]).astype(np.float32)
        square = await self.forward(seen, letters == ".", seat=data["seat"])
        return {"square": square}

    def on_end(self, data: Any) -> Any:
        """The result, and who played the seat that had no model."""
        first = float(data["first"])
        self.result([first, -first])
        if self.solver is not None:
            self.played_by(self.solver, "solver")


def draw(tick: RecordedTick) -> Any:
    """A recorded tick as a picture: nine fields, dark where the mover has a mark, grey where its opponent has one."""
    if tick.kind != "tick":
        return None
    fields = np.array([SHADES[letter] for letter in tick.data["board"]], np.uint8).reshape(3, 3)
    picture = np.full((3, 32, 3, 32), 255, np.uint8)
    picture[:, 2:30, :, 2:30] = fields[:, None, :, None]
    return picture.reshape(96, 96)
