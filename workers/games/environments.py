"""Base of the adapters for Python environments: one environment per table, stepped one by one."""

import importlib
import inspect
import re
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from orchestrator.makers import described, makes
from workers.games.errors import BadGame
from workers.games.observation_encoder import ObservationEncoder
from workers.games.protocol import GameSpec, StepResult, Turn, VectorGame
from workers.games.seeding import mix_ints

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class AgentObservation:
    """The observation and info of a seat that is to act."""

    seat: int
    value: Any
    info: dict[str, Any]


class EnvironmentGame(VectorGame):
    """A game whose tables are environments of other libraries. Games are truncated at `max_steps`.

    An environment must be a pure function of its reset's seed and the actions.
    """

    def __init__(
        self, spec: GameSpec, environments: list[Any], encoders: list[ObservationEncoder], counts: list[int]
    ) -> None:
        """`encoders` and `counts` have each seat's observation encoder and number of actions."""
        super().__init__(spec, len(environments))
        self._environments = environments
        self._encoders = encoders
        rows = self._rows
        self._observations = np.zeros((rows, *spec.observation_shape), np.float32)
        self._legal = np.zeros((rows, spec.actions), np.bool_)
        self._own_actions = np.arange(spec.actions) < np.array(counts)[:, None]
        self._played: list[list[int]] = [[] for _ in environments]
        self._earned = np.zeros((self.tables, spec.seats))
        self._last: list[Any] = [None] * self.tables
        """What each environment last returned, for those that show it only once."""
        self._turn: Turn | None = None

    @abstractmethod
    def _start(self, table: int, seed: int) -> None:
        """Reset the table's environment with this seed."""

    @abstractmethod
    def _acting(self, table: int) -> list[AgentObservation]:
        """The seats that must act at the table, in seat order."""

    @abstractmethod
    def _play(self, table: int, seats: list[int], actions: list[int]) -> tuple[dict[int, float], bool, bool]:
        """Play the actions; the rewards by seat, whether the game is over, and whether it was cut off."""

    def begin(self, tables: NDArray[np.int64]) -> None:
        self._turn = None
        self._earned[tables] = 0
        for table, seed in zip(tables.tolist(), self.seeds_of(tables).tolist(), strict=True):
            self._played[table] = []
            # Environments take seeds of 31 bits; hashing first keeps all 64 of ours in play.
            self._start(table, mix_ints(seed) >> 33)

    def turn(self) -> Turn:
        if self._turn is None:
            self._turn = self._look()
        return self._turn

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        turn = self.turn()
        self.refuse_illegal(actions, turn)
        rewards = np.zeros((self.tables, self.spec.seats), np.float32)
        done, truncated = np.zeros((2, self.tables), np.bool_)
        bounds = np.searchsorted(turn.tables, np.arange(self.tables + 1)).tolist()
        for table in range(self.tables):
            rows = slice(bounds[table], bounds[table + 1])
            played = actions[rows].tolist()
            earned, done[table], truncated[table] = self._play(table, turn.seats[rows].tolist(), played)
            for seat, reward in earned.items():
                rewards[table, seat] = reward
            self._played[table] += played
        late = ~done & (self.plies + 1 >= self.spec.max_steps)
        self._earned += rewards
        self._turn = None
        return StepResult(rewards, done | late, truncated | late)

    def history(self, table: int) -> list[int]:
        return list(self._played[table])

    def render_text(self, table: int, seat: int | None = None) -> str:
        """The environment's own text where it has one, else the step and what was earned."""
        environment = self._environments[table]
        if getattr(environment, "render_mode", None) == "ansi" and (seat is None or not self.spec.hidden_information):
            return _COLOURS.sub("", str(environment.render()))
        earned = ", ".join(f"seat {s}: {value:g}" for s, value in enumerate(self._earned[table]))
        return f"step {len(self._played[table])}\n{earned}"

    def _remember(self, actions: NDArray[np.int64]) -> None:
        """Does nothing: `advance` keeps a list per table, because the rows of a turn vary."""

    def _look(self) -> Turn:
        tables: list[int] = []
        seats: list[int] = []
        for table in range(self.tables):
            for shown in self._acting(table):
                row = len(tables)
                self._encoders[shown.seat].write(shown.value, self._observations[row])
                self._legal[row] = self._own_actions[shown.seat]
                mask = self._encoders[shown.seat].mask(shown.value, shown.info)
                if mask is not None:
                    self._legal[row, : len(mask)] &= np.asarray(mask, np.bool_)
                tables.append(table)
                seats.append(shown.seat)
        self._rows = rows = len(tables)
        return Turn(
            np.array(tables, np.int64),
            np.array(seats, np.int64),
            self._observations[:rows],
            self._legal[:rows],
        )


def factory(path: str, made: type, functions: frozenset[str] = frozenset()) -> Callable[..., Any]:
    """What `module:attr` names, if it is known to make a `made`; else BadGame, and nothing is called.

    That is a subclass, a Python function annotated to return one, or a Python function of one of the names `functions`.
    """
    module, _, attribute = path.partition(":")
    try:
        found: Any = getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:  # user code may raise anything
        raise BadGame(f"environment {path!r} does not import: {type(error).__name__}: {error}") from error
    if makes(found, made) or (attribute in functions and inspect.isfunction(found)):
        return cast("Callable[..., Any]", found)
    named = f", or a function named {' or '.join(sorted(functions))}" if functions else ""
    raise BadGame(
        f"environment {path!r} is {described(found)}; allowed: a subclass of {made.__name__}, "
        f"a function annotated to return one{named}"
    )
