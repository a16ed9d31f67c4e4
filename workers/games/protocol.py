"""The interface of a game: n tables, stepped together on arrays.

See docs/decisions/games-and-adapters.md.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from workers.games import seeding
from workers.games.errors import BadGame, IllegalAction
from workers.games.svg import text_svg
from workers.games.teams import checked_teams


@dataclass(frozen=True, kw_only=True)
class GameSpec:
    """The fixed properties of a game."""

    id: str
    seats: int
    actions: int
    """Size of the action set; legal masks have this width."""
    observation_shape: tuple[int, ...]
    """Shape of one observation; always float32, always from the acting seat's point of view."""
    simultaneous: bool = False
    hidden_information: bool = False
    chance: bool = False
    """Dice, cards or the like, drawn from the seed, so that games of deterministic players differ too."""
    max_steps: int
    """Upper bound on the steps of one game."""
    teams: tuple[int, ...] = ()
    """The team of each seat, numbered from 0: seats that win and lose together. By default each seat is a team."""
    scoring: Literal["outcome", "returns"] = "outcome"
    """`returns` for games of one team, which have no opponent: returns are tallied instead of wins."""
    action_names: tuple[str, ...] = ()
    """What people call the actions; empty means by number."""
    openspiel: str | None = None
    """OpenSpiel's name of the same game, whose states `history` replays; None where there is none."""

    def __post_init__(self) -> None:
        for name in ("seats", "actions", "max_steps"):
            if getattr(self, name) < 1:
                raise BadGame(f"{self.id}: {name} must be at least 1, not {getattr(self, name)}")
        object.__setattr__(self, "teams", checked_teams(self.teams or range(self.seats), self.seats, self.id))
        if self.team_count == 1:
            object.__setattr__(self, "scoring", "returns")
        if self.action_names and len(self.action_names) != self.actions:
            raise BadGame(f"{self.id}: {len(self.action_names)} action names for {self.actions} actions")

    @property
    def team_count(self) -> int:
        """The number of teams; 1 in one-seat games and in fully cooperative ones."""
        return max(self.teams) + 1

    @property
    def open_board(self) -> bool:
        """Whether several seats move in turn and see everything, so that random opening moves reveal nothing."""
        return not (self.simultaneous or self.hidden_information or self.seats == 1)

    def action_name(self, action: int) -> str:
        return self.action_names[action] if self.action_names else str(action)


@dataclass(slots=True)
class Turn:
    """The rows that must act now. The arrays are valid until the next step: copy what you keep.

    Turn-based games have exactly one row per table, in table order. Simultaneous games have one row
    per table and seat, table-major; fewer only where seats have left a game that goes on.
    """

    tables: NDArray[np.int64]
    seats: NDArray[np.int64]
    observations: NDArray[np.float32]
    legal: NDArray[np.bool_]


@dataclass(slots=True)
class StepResult:
    """The result of one step. The arrays are valid until the next step: copy what you keep."""

    rewards: NDArray[np.float32]
    """[tables, seats], earned in this step by every seat, not only by the mover."""
    done: NDArray[np.bool_]
    """[tables], the game ended in this step; the table has already started its next game."""
    truncated: NDArray[np.bool_]
    """[tables], the game was cut off by a limit of steps and not by its rules; implies done."""


class VectorGame(ABC):
    """n tables of one game, stepped together. A game is a pure function of its seed and the actions.

    A subclass calls `super().__init__(spec, tables)` and defines `begin`, `turn`, `advance` and
    `render_text`. All randomness comes from `seeds_of` (see `workers.games.seeding`).
    """

    auto_reset: bool = True
    """False leaves a finished table at its last position, until `start` gives it another game."""

    def __init__(self, spec: GameSpec, tables: int) -> None:
        if tables < 1:
            raise BadGame(f"{spec.id}: tables must be at least 1, not {tables}")
        self.spec = spec
        self.tables = tables
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
    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        """Play one action per row of `turn()`; finished tables keep their last position."""

    @abstractmethod
    def render_text(self, table: int, seat: int | None = None) -> str:
        """The position for people: all of it, or only what `seat` may see."""

    def render_svg(self, table: int, seat: int | None = None) -> str:
        """The position as an SVG image; by default its text."""
        return text_svg(self.render_text(table, seat), title=self.spec.id)

    def action_text(self, table: int, seat: int, action: int) -> str:
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

    def step(self, actions: NDArray[np.int64]) -> StepResult:
        """Play one action per row of `turn()` and start the next game wherever one ended."""
        if actions.dtype != np.int64 or actions.shape != (self._rows,):
            raise BadGame(
                f"{self.spec.id}: step takes int64 actions of shape ({self._rows},), one per row of turn(), "
                f"not {actions.dtype} of shape {actions.shape}"
            )
        result = self.advance(actions)
        self._remember(actions)
        self.plies += 1
        if self.auto_reset and result.done.any():
            tables = np.flatnonzero(result.done)
            self.games[tables] += 1
            self.plies[tables] = 0
            self.begin(tables)
        return result

    def seeds_of(self, tables: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The seed of the game now at each of these tables: `reset` with it plays the same game again."""
        return seeding.game_seeds(self.table_seeds[tables], self.games[tables])

    @property
    def game_seeds(self) -> NDArray[np.uint64]:
        """The seed of the game now at every table."""
        return seeding.game_seeds(self.table_seeds, self.games)

    def history(self, table: int) -> list[int]:
        """The actions of the game at this table so far, chance outcomes included, in OpenSpiel's order."""
        if self._moves is None:
            return []
        steps = np.arange(self._clock - self.plies[table], self._clock) % len(self._moves)
        width = self._rows // self.tables
        moves: list[int] = self._moves[steps, table * width : (table + 1) * width].ravel().tolist()
        return moves

    def _remember(self, actions: NDArray[np.int64]) -> None:
        """Keep the actions of this step in a ring of `max_steps` rows: no game is longer than that."""
        if self._moves is None:
            small = np.uint8 if self.spec.actions <= 256 else np.int32
            self._moves = np.zeros((self.spec.max_steps, self._rows), small)
        self._moves[self._clock % len(self._moves)] = actions
        self._clock += 1

    def refuse_illegal(self, actions: NDArray[np.int64], turn: Turn) -> None:
        """Raise IllegalAction for the first row whose action its mask forbids."""
        inside = (actions >= 0) & (actions < self.spec.actions)
        legal = inside & turn.legal[np.arange(len(actions)), np.where(inside, actions, 0)]
        if not legal.all():
            row = int(np.argmin(legal))
            raise IllegalAction(
                self.spec.id,
                int(turn.tables[row]),
                int(turn.seats[row]),
                int(actions[row]),
                np.flatnonzero(turn.legal[row]).tolist(),
            )
