"""A recorded game as rows of decisions: what each seat observed, which action it took, and its reward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.games.errors import BadGame
from workers.games.protocol import VectorGame
from workers.games.spaces import columns as observation_columns

ENDED, CUT_OFF = -1, -2
"""Links of a seat's last decision: the game ended by its rules, or by a limit of steps."""


@dataclass(frozen=True, kw_only=True)
class Decisions:
    """The decisions of one game in order."""

    columns: dict[str, NDArray[Any]]
    """"obs" or "obs/<part>", "action", "reward", "legal" where actions are masked."""
    next_row: NDArray[np.int64]
    """The row of the same seat's next decision, ENDED or CUT_OFF."""
    seat: NDArray[np.int64]
    ply: NDArray[np.int64]
    """The step of the game in which each decision was taken."""

    def __len__(self) -> int:
        return len(self.seat)

    def only(self, chosen: NDArray[np.bool_]) -> Decisions:
        """Some of the rows. A link to a row that is left out leads to the next one that is not."""
        links = self.next_row.copy()
        for row in range(len(links) - 1, -1, -1):
            after = links[row]
            if after >= 0 and not chosen[after]:
                links[row] = links[after]
        rows = np.flatnonzero(chosen)
        places = np.cumsum(chosen) - 1
        kept = links[rows]
        return Decisions(
            columns={name: column[rows] for name, column in self.columns.items()},
            next_row=np.where(kept >= 0, places[kept], kept),
            seat=self.seat[rows],
            ply=self.ply[rows],
        )


def decisions_of(make: Callable[[int], VectorGame], seed: int, moves: Sequence[int]) -> Decisions:
    """Replay a finished game from its seed and its moves; a reward belongs to the seat's latest decision."""
    game = make(1)
    game.auto_reset = False
    game.reset(np.array([seed], np.uint64))
    rows: dict[str, list[Any]] = {}
    seats: list[int] = []
    plies: list[int] = []
    rewards: list[float] = []
    links: list[int] = []
    latest: dict[int, int] = {}
    used, ply, done, cut = 0, 0, False, False
    while not done:
        turn = game.turn()
        numbers = len(turn.seats) * game.layout.width
        if used + numbers > len(moves):
            raise BadGame(f"{game.spec.id}: the record ends after {len(moves)} moves, and the game goes on")
        actions = game.layout.from_numbers(moves[used : used + numbers])
        shown = observation_columns(turn.observations)
        legal = game.legal_of(turn)
        for place, seat in enumerate(turn.seats.tolist()):
            row = len(seats)
            if seat in latest:
                links[latest[seat]] = row
            latest[seat] = row
            for name, column in shown.items():
                rows.setdefault(name, []).append(np.array(column[place]))
            if legal is not None:
                rows.setdefault("legal", []).append(np.array(legal[place]))
            rows.setdefault("action", []).append(np.array(actions[place]))
            seats.append(seat)
            plies.append(ply)
            rewards.append(0.0)
            links.append(ENDED)
        result = game.step(actions)
        for seat, row in latest.items():
            rewards[row] += float(result.rewards[0][seat])
        used, ply = used + numbers, ply + 1
        done, cut = bool(result.done[0]), bool(result.truncated[0])
    if used < len(moves):
        raise BadGame(f"{game.spec.id}: the game ended after {used} of {len(moves)} recorded moves")
    for row in latest.values():
        links[row] = CUT_OFF if cut else ENDED
    return Decisions(
        columns={**{name: np.stack(each) for name, each in rows.items()}, "reward": np.array(rewards, np.float32)},
        next_row=np.array(links, np.int64),
        seat=np.array(seats, np.int64),
        ply=np.array(plies, np.int64),
    )
