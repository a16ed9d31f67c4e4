"""Random play of a game, with a record of each game that can be compared with a replay."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.games.protocol import StepResult, Turn, VectorGame
from workers.games.spaces import columns, take


@dataclass(frozen=True, kw_only=True)
class Ply:
    """One step of one table: what was shown, done and earned."""

    seats: tuple[int, ...]
    shown: str
    legal: str
    actions: tuple[int, ...]
    rewards: tuple[float, ...]
    done: bool


@dataclass(kw_only=True)
class PlayedGame:
    """One game of random moves."""

    seed: int
    plies: list[Ply] = field(default_factory=list)

    @property
    def length(self) -> int:
        return len(self.plies)

    @property
    def returns(self) -> NDArray[np.float64]:
        """What each seat earned."""
        return np.asarray(np.sum([ply.rewards for ply in self.plies], axis=0), np.float64)

    def differs(self, game: VectorGame) -> tuple[str, str] | None:
        """The method at fault and the first difference to a replay at a fresh table; None where it is the same."""
        game.reset(np.array([self.seed], np.uint64))
        for number, ply in enumerate(self.plies):
            turn = game.turn()
            rows = np.arange(len(turn.tables))
            method = "begin" if number == 0 else "turn"
            if tuple(turn.seats.tolist()) != ply.seats:
                return method, f"step {number} asks seats {turn.seats.tolist()}, where it asked {list(ply.seats)}"
            if _digest(columns(take(turn.observations, rows))) != ply.shown:
                return method, f"the observation before step {number}"
            if _digest({"legal": game.legal_of(turn)}) != ply.legal:
                return method, f"the legal actions before step {number}"
            result = game.step(game.layout.from_numbers(ply.actions))
            rewards = tuple(result.rewards[0].tolist())
            if rewards != ply.rewards:
                return "advance", f"step {number} earns {list(rewards)}, where it earned {list(ply.rewards)}"
            if bool(result.done[0]) != ply.done:
                return "advance", f"whether the game ends with step {number}"
        return None


class RandomPlay:
    """Plays random legal actions at all tables of a game."""

    def __init__(self, game: VectorGame, seed: int) -> None:
        self._game = game
        self._rng = np.random.default_rng(seed)
        game.reset(self._rng.integers(0, 2**64, game.tables, dtype=np.uint64))
        self.played: list[PlayedGame] = []
        self.steps = 0
        self.plies_before = game.plies.copy()
        """Steps of each table's game before the step under way."""
        self._current = [PlayedGame(seed=int(each)) for each in game.game_seeds]
        self._legal_seen: NDArray[np.bool_] | None = None
        self._shown: set[str] = set()

    @property
    def never_legal(self) -> list[int]:
        """Discrete actions that no position allowed."""
        return [] if self._legal_seen is None else np.flatnonzero(~self._legal_seen).tolist()

    @property
    def constant_observations(self) -> bool:
        """Whether all observations were the same."""
        return len(self._shown) == 1

    def look(self) -> Turn:
        """The rows to act now."""
        return self._game.turn()

    def act(self, turn: Turn) -> StepResult:
        """Play a random legal action for each row; gives the result."""
        game, legal = self._game, self._game.legal_of(turn)
        if legal is not None and game.spec.discrete:
            seen = legal.any(axis=0)
            self._legal_seen = seen if self._legal_seen is None else self._legal_seen | seen
        actions = game.layout.draw(self._rng.random((len(turn.tables), game.layout.width)), legal)
        shown, masks = self._written(turn, legal)
        numbers = np.asarray(game.layout.numbers(actions)).reshape(len(turn.tables), -1)
        at = [np.flatnonzero(turn.tables == table) for table in range(game.tables)]
        seats = [tuple(turn.seats[rows].tolist()) for rows in at]
        self.plies_before = game.plies.copy()
        result = game.step(actions)
        self.steps += game.tables
        for table, rows in enumerate(at):
            if not len(rows) and not game.seeds_fix_games:
                continue  # between two games
            ply = Ply(
                seats=seats[table],
                shown=shown[table],
                legal=masks[table],
                actions=tuple(numbers[rows].ravel().tolist()),
                rewards=tuple(result.rewards[table].tolist()),
                done=bool(result.done[table]),
            )
            self._current[table].plies.append(ply)
        self._finish(result)
        return result

    def _written(self, turn: Turn, legal: Any) -> tuple[list[str], list[str]]:
        """The observations and the masks of each table as digests."""
        shown, masks = [], []
        for table in range(self._game.tables):
            rows = np.flatnonzero(turn.tables == table)
            shown.append(_digest(columns(take(turn.observations, rows))))
            masks.append(_digest({"legal": None if legal is None else legal[rows]}))
        self._shown.update(shown)
        return shown, masks

    def _finish(self, result: StepResult) -> None:
        for table in np.flatnonzero(result.done).tolist():
            self.played.append(self._current[table])
            self._current[table] = PlayedGame(seed=int(self._game.game_seeds[table]))


def _digest(arrays: dict[str, Any]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(name.encode())
        digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
