"""Base of the adapters for environments of other libraries: tables stepped here, in other processes, or in C++."""

from __future__ import annotations

import importlib
import inspect
import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from orchestrator.storage.artifacts import ArtifactStoreUnavailable
from orchestrator.user_code.makers import described, makes
from workers.games.adapters.drivers import DrivenTables, TableSetup
from workers.games.adapters.process_tables import ProcessTables
from workers.games.adapters.table_arrays import Layout, TableArrays
from workers.games.errors import BadGame
from workers.games.protocol import GameSpec, StepResult, Turn, VectorGame
from workers.games.seeding import mix_ints
from workers.games.spaces import Observations, take

_EXTRAS = {"mpe2": "mpe"}
"""Packages of environments, and the extra of Lanista that installs each."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Tables(Protocol):
    """Steps the environments of all tables over the arrays."""

    def start(self, tables: Sequence[int], seeds: Sequence[int]) -> None:
        """Start the games with these seeds at these tables."""

    def step(self) -> None:
        """Play the actions in the arrays."""

    def text(self, table: int) -> str | None:
        """The environment's own picture in text, if it has one."""


class EnvironmentGame(VectorGame):
    """A game whose tables are environments of other libraries. Games are truncated at `max_steps`.

    An environment must be a pure function of its reset's seed and the actions.
    """

    _arrays: TableArrays
    _tables: Tables

    def __init__(self, spec: GameSpec, tables: int) -> None:
        super().__init__(spec, tables)
        self._width = spec.seats if spec.simultaneous else 1
        self._played: list[list[int]] = [[] for _ in range(tables)]
        self._earned = np.zeros((self.tables, spec.seats))
        self._opened = False
        self._turn: Turn | None = None
        self._slots: NDArray[np.int64] | slice = slice(None)

    @abstractmethod
    def _open(self) -> tuple[TableArrays, Tables]:
        """Make the environments; called before the first game starts."""

    def begin(self, tables: NDArray[np.int64]) -> None:
        if not self._opened:
            self._arrays, self._tables = self._open()
            self._opened = True
        self._turn = None
        self._earned[tables] = 0
        for table in tables.tolist():
            self._played[table] = []
        # Environments take seeds of 31 bits; hashing first keeps all 64 of ours in play.
        seeds = [mix_ints(seed) >> 33 for seed in self.seeds_of(tables).tolist()]
        self._tables.start(tables.tolist(), seeds)

    def turn(self) -> Turn:
        if self._turn is None:
            self._turn = self._look()
        return self._turn

    def advance(self, actions: NDArray[Any]) -> StepResult:
        turn = self.turn()
        self.refuse_illegal(actions, turn)
        self._arrays.actions[self._slots] = actions
        self._tables.step()
        self._keep(turn, actions)
        rewards, done, truncated = self._arrays.rewards.copy(), self._arrays.done.copy(), self._arrays.truncated
        late = ~done & (self.plies + 1 >= self.spec.max_steps)
        self._earned += rewards
        self._turn = None
        return StepResult(rewards, done | late, truncated | late)

    def history(self, table: int) -> list[int]:
        return list(self._played[table])

    def render_text(self, table: int, seat: int | None = None) -> str:
        """The environment's own text where it has one, else the step and what was earned."""
        if seat is None or not self.spec.hidden_information:
            shown = self._tables.text(table)
            if shown is not None:
                return _COLOURS.sub("", shown)
        earned = ", ".join(f"seat {s}: {value:g}" for s, value in enumerate(self._earned[table]))
        return f"step {len(self._played[table]) // self.layout.width}\n{earned}"

    def _remember(self, actions: NDArray[Any]) -> None:
        """Does nothing: `advance` keeps a list per table, because the rows of a turn vary."""

    def _keep(self, turn: Turn, actions: NDArray[Any]) -> None:
        numbers = self.layout.numbers(actions).tolist()
        for table, played in zip(turn.tables.tolist(), numbers, strict=True):
            self._played[table] += played

    def _look(self) -> Turn:
        arrays, width = self._arrays, self._width
        acting = arrays.acting
        if (acting == width).all():
            self._slots = slice(None)
            tables = np.repeat(np.arange(self.tables), width)
        else:
            self._slots = np.flatnonzero(np.arange(width) < acting[:, None])
            tables = self._slots // width
        self._rows = len(tables)
        legal = None if arrays.legal is None else arrays.legal[self._slots]
        return Turn(tables, arrays.seats[self._slots], self._seen(), legal)

    def _seen(self) -> Observations:
        seen = self._arrays.observations
        return take(seen.get("", seen), self._slots)


class DrivenGame(EnvironmentGame):
    """A game of Python environments, in this process or in `workers` others."""

    _tables: DrivenTables | ProcessTables

    def __init__(self, spec: GameSpec, tables: int, setup: Callable[[Layout], TableSetup], workers: int = 0) -> None:
        super().__init__(spec, tables)
        if workers < 0:
            raise BadGame(f"{spec.id}: workers must be 0 or more, not {workers}")
        self._setup = setup
        self._workers = workers

    def _open(self) -> tuple[TableArrays, Tables]:
        setup = self._setup(Layout(self.spec, self.tables))
        if self._workers:
            others = ProcessTables(setup, self._workers)
            return others.arrays, others
        arrays = TableArrays.over(setup.layout)
        return arrays, DrivenTables(setup, arrays, 0, self.tables)

    def global_state(self) -> NDArray[Any]:
        if self._arrays.states is None:
            return super().global_state()
        self._tables.states()
        return self._arrays.states

    @property
    def environments(self) -> list[Any]:
        """The environments of the games now at the tables; only where they live in this process."""
        if not isinstance(self._tables, DrivenTables):
            raise BadGame(f"{self.spec.id}: its environments live in other processes")
        return [driver.env for driver in self._tables.drivers.values()]


def factory(path: str, made: type, functions: frozenset[str] = frozenset()) -> Callable[..., Any]:
    """What `module:attr` names, if it is known to make a `made`; else BadGame, and nothing is called.

    That is a subclass, a Python function annotated to return one, or a Python function of one of the names `functions`.
    """
    module, _, attribute = path.partition(":")
    try:
        found: Any = getattr(importlib.import_module(module), attribute)
    except ArtifactStoreUnavailable:
        raise  # the store of the code is away: the code may be fine
    except (Exception, SystemExit) as error:  # user code may raise anything
        extra = _EXTRAS.get(module.partition(".")[0]) if isinstance(error, ModuleNotFoundError) else None
        hint = f"; pip install 'lanista[{extra}]' brings it" if extra else ""
        raise BadGame(f"environment {path!r} does not import: {type(error).__name__}: {error}{hint}") from error
    if makes(found, made) or (attribute in functions and inspect.isfunction(found)):
        return cast("Callable[..., Any]", found)
    named = f", or a function named {' or '.join(sorted(functions))}" if functions else ""
    raise BadGame(
        f"environment {path!r} is {described(found)}; allowed: a subclass of {made.__name__}, "
        f"a function annotated to return one{named}"
    )


def check_variants(env: str, options: dict[str, Any] | None, variants: list[dict[str, Any]] | None) -> list[Any]:
    """The options of each variant: `options` with those of the variant over them; one for none."""
    if variants is not None and not variants:
        raise BadGame(f"{env}: variants is an empty list; leave it out, or name the options of each variant")
    return [{**(options or {}), **variant} for variant in variants or [{}]]
