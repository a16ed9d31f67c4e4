"""The interface of a game: n tables, stepped together on arrays.

See docs/decisions/games-and-bots.md.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.games import seeding
from workers.games import spaces as game_spaces
from workers.games.errors import BadGame, IllegalAction
from workers.games.game_spec import GameSpec
from workers.games.snapshots import Snapshot, TableCopies
from workers.games.spaces import ActionLayout, Legal, Observations
from workers.games.svg import text_svg

__all__ = ["GameSpec", "Snapshot", "StepResult", "Turn", "VectorGame"]


@dataclass(slots=True)
class Turn:
    """The rows that must act now. The arrays are valid until the next step: copy what you keep.

    Turn-based games have exactly one row per table, in table order. Simultaneous games have one row
    per table and seat, table-major; fewer only where seats have left a game that goes on.
    """

    tables: NDArray[np.int64]
    seats: NDArray[np.int64]
    observations: Observations
    """One array [rows, ...] of the space's type, or a dict of them by the names of `GameSpec.observation_parts`."""
    legal: Legal
    """[rows, actions]; None where all of the action space is allowed. Discrete and MultiDiscrete spaces have masks,
    the latter one mask with the masks of its parts side by side."""
    state: Any = None
    """[rows, ...], the global state at each row's table; only of final observations, if `VectorGame.shows_state`."""


@dataclass(slots=True)
class StepResult:
    """The result of one step. The arrays are valid until the next step: copy what you keep."""

    rewards: NDArray[np.float32]
    """[tables, seats], earned in this step by every seat, not only by the mover."""
    done: NDArray[np.bool_]
    """[tables], the game ended in this step; the table has already started its next game."""
    truncated: NDArray[np.bool_]
    """[tables], the game was cut off by a limit of steps and not by its rules; implies done."""
    final: Turn | None = None
    """The rows that would have acted next in the truncated games; None where no game was truncated. `VectorGame.step`
    fills it in, so that values can be bootstrapped from the final observations."""


class VectorGame(TableCopies, ABC):
    """n tables of one game, stepped together. A game is a pure function of its seed and the actions.

    A subclass calls `super().__init__(spec, tables)` and defines `begin`, `turn`, `advance` and
    `render_text`. All randomness comes from `seeds_of` (see `workers.games.seeding`). One that names its
    `position_arrays` can copy tables (see `workers.games.snapshots`), so that players may search in it.
    """

    auto_reset: bool = True
    """False leaves a finished table at its last position, until `start` gives it another game."""
    shows_state: bool = False
    """True asks for the global state of truncated games with their final observations."""
    seeds_fix_games: bool = True
    """False where only the seeds of a whole rollout fix its games, as in vector environments: a later game begins as
    the environment draws it, and a table between two games may have no row. With `auto_reset` off, each seed does."""
    teams_question: str | None = None
    """Why a new trial must say which seats play together; None where the game or its options say it."""
    teams_question_if_equal: str | None = None
    """The same, if all seats turn out to earn the same."""

    def __init__(self, spec: GameSpec, tables: int) -> None:
        if tables < 1:
            raise BadGame(f"{spec.id}: tables must be at least 1, not {tables}")
        self.spec = spec
        self.tables = tables
        self.layout = ActionLayout(spec.action)
        self.table_seeds = np.zeros(tables, np.uint64)
        self.games = np.zeros(tables, np.int64)
        """How many games each table has finished since `reset`."""
        self.plies = np.zeros(tables, np.int64)
        """Steps taken in the game now at each table."""
        self._rows = tables * (spec.seats if spec.simultaneous else 1)
        """Rows of the present turn; constant unless seats can leave a game that goes on."""
        self._moves: NDArray[np.integer] | None = None
        self._clock = 0

    # What a game defines

    @abstractmethod
    def begin(self, tables: NDArray[np.int64]) -> None:
        """Set these tables to the start of the game named by `seeds_of(tables)`."""

    @abstractmethod
    def turn(self) -> Turn:
        """The seats that must act now, their observations and their legal actions."""

    @abstractmethod
    def advance(self, actions: NDArray[Any]) -> StepResult:
        """Play one action per row of `turn()`, as `ActionLayout` lays them out; those of a Box lie within its bounds.

        Finished tables keep their last position.
        """

    @abstractmethod
    def render_text(self, table: int, seat: int | None = None) -> str:
        """The position for people: all of it, or only what `seat` may see."""

    def render_svg(self, table: int, seat: int | None = None) -> str:
        """The position as an SVG image; by default its text."""
        return text_svg(self.render_text(table, seat), title=self.spec.id)

    def global_state(self) -> NDArray[Any]:
        """[tables, ...] of `spec.state`: the whole position now at each table, for critics in training alone."""
        raise BadGame(f"{self.spec.id}: it declares a global state and does not define global_state()")

    def action_text(self, table: int, seat: int, action: Any) -> str:
        """What people call this action of a seat at this table; by default its name in the spec."""
        return self.spec.action_name(action)

    # What callers use

    def reset(self, seeds: NDArray[np.uint64]) -> None:
        """Start at every table the game named by its seed; its later games are seeded from (seed, count)."""
        seeds = np.asarray(seeds)
        if seeds.shape != (self.tables,) or seeds.dtype != np.uint64:
            raise BadGame(
                f"{self.spec.id}: reset takes uint64 seeds of shape ({self.tables},), "
                f"not {seeds.dtype} of shape {seeds.shape}"
            )
        self.start(np.arange(self.tables), seeds)

    def start(self, tables: NDArray[np.int64], seeds: NDArray[np.uint64]) -> None:
        """Start at these tables the games named by these seeds; the others stay as they are."""
        self.table_seeds[tables] = seeds
        self.games[tables] = 0
        self.plies[tables] = 0
        self.begin(tables)

    def step(self, actions: NDArray[Any]) -> StepResult:
        """Play one action per row of `turn()` and start the next game wherever one ended.

        Numbers of a Box beyond its bounds are clipped to them.
        """
        if actions.dtype != self.layout.dtype or actions.shape != (self._rows, *self.layout.shape):
            raise BadGame(
                f"{self.spec.id}: step takes {self.layout.dtype} actions of shape {(self._rows, *self.layout.shape)}, "
                f"one per row of turn(), not {actions.dtype} of shape {actions.shape}"
            )
        if self.layout.continuous:
            actions = self.layout.clip(actions)
        result = self.advance(actions)
        if result.rewards.shape != (self.tables, self.spec.seats) or len(result.done) != self.tables:
            raise BadGame(
                f"{self.spec.id}: advance must return rewards of shape {(self.tables, self.spec.seats)} and "
                f"{self.tables} numbers of done, not {result.rewards.shape} and {len(result.done)}"
            )
        if self.keeps_history:
            self._remember(actions)
        self.plies += 1
        if self.auto_reset and result.done.any():
            tables = np.flatnonzero(result.done)
            if result.truncated.any():
                result.final = self._final(result.truncated)
            self.games[tables] += 1
            self.plies[tables] = 0
            self.begin(tables)
        return result

    def _final(self, truncated: NDArray[np.bool_]) -> Turn:
        """The rows of the truncated tables at their last positions, copied before the next games begin."""
        turn = self.turn()
        rows = np.flatnonzero(truncated[turn.tables])
        seen = game_spaces.take(turn.observations, rows)
        legal = None if turn.legal is None else turn.legal[rows]
        state = self.global_state()[turn.tables[rows]] if self.shows_state else None
        return Turn(turn.tables[rows], turn.seats[rows], seen, legal, state)

    def seeds_of(self, tables: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The seed of the game now at each of these tables: `reset` with it plays the same game again."""
        return seeding.game_seeds(self.table_seeds[tables], self.games[tables])

    @property
    def game_seeds(self) -> NDArray[np.uint64]:
        """The seed of the game now at every table."""
        return seeding.game_seeds(self.table_seeds, self.games)

    def history(self, table: int) -> list[int]:
        """The actions of the game at this table so far, chance outcomes included, in OpenSpiel's order.

        Actions of other spaces than Discrete are written as `ActionLayout.numbers` does.
        """
        if self._moves is None:
            return []
        steps = np.arange(self._clock - self.plies[table], self._clock) % len(self._moves)
        width = self._moves.shape[1] // self.tables
        moves: list[int] = self._moves[steps, table * width : (table + 1) * width].ravel().tolist()
        return moves

    def _remember(self, actions: NDArray[Any]) -> None:
        """Keep the actions of this step in a ring of `max_steps` rows: no game is longer than that."""
        if not self.spec.discrete:
            actions = self.layout.numbers(actions).ravel()
        if self._moves is None:
            small = np.uint8 if self.spec.discrete and self.spec.actions <= 256 else np.int32
            self._moves = np.zeros((self.spec.max_steps, len(actions)), small)
        self._moves[self._clock % len(self._moves)] = actions
        self._clock += 1

    def refuse_illegal(self, actions: NDArray[Any], turn: Turn) -> None:
        """Raise IllegalAction for the first row whose action is not in the space, or which its mask forbids."""
        legal = self._is_legal(actions, turn)
        if not legal.all():
            row = int(np.argmin(legal))
            raise IllegalAction(
                self.spec.id,
                int(turn.tables[row]),
                int(turn.seats[row]),
                self.layout.value(actions[row]),
                self._allowed(turn, row),
            )

    def legal_of(self, turn: Turn) -> Legal:
        """The legal mask of a turn, all true where the game gives none; None for spaces without masks."""
        width = self.layout.mask_width
        if turn.legal is not None or width is None:
            return turn.legal
        return np.ones((len(turn.tables), width), np.bool_)

    def rows_of(self, turn: Turn, rows: NDArray[np.int64] | slice) -> tuple[Observations, Legal]:
        """The observations and the legal mask of these rows of a turn."""
        legal = self.legal_of(turn)
        return game_spaces.take(turn.observations, rows), None if legal is None else legal[rows]

    def _is_legal(self, actions: NDArray[Any], turn: Turn) -> NDArray[np.bool_]:
        """[rows], whether each action is in the space and its mask allows it."""
        rows = np.arange(len(actions))
        if self.spec.discrete:
            inside = (actions >= 0) & (actions < self.spec.actions)
            return np.asarray(inside if turn.legal is None else inside & turn.legal[rows, np.where(inside, actions, 0)])
        legal = self.layout.inside(actions)
        if turn.legal is not None:
            for number, at in zip(self.layout.flat(actions).T, self.layout.mask_slices(), strict=True):
                legal &= turn.legal[rows, at.start + np.where(legal, number, 0)]
        return legal

    def _allowed(self, turn: Turn, row: int) -> object:
        """The legal actions of a row, for an error message."""
        if turn.legal is None:
            return list(range(self.spec.actions)) if self.spec.discrete else str(self.spec.action)
        parts = [np.flatnonzero(turn.legal[row, at]).tolist() for at in self.layout.mask_slices()]
        return parts[0] if self.spec.discrete else parts
