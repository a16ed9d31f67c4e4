"""Environments of other libraries, one a table, and their steps on arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.games.adapters.observation_encoder import ObservationEncoder
from workers.games.adapters.table_arrays import Layout, TableArrays
from workers.games.seeding import mix_ints
from workers.games.spaces import ActionLayout

_VARIANT = 5  # separates the choice of a variant from other draws on the same seed


@dataclass(slots=True)
class AgentObservation:
    """The observation and info of a seat that is to act."""

    seat: int
    value: Any
    info: Mapping[str, Any]


@dataclass(slots=True)
class Played:
    """What one step of an environment gave: rewards by seat, whether the game is over, and whether it was cut off."""

    rewards: Mapping[int, float]
    over: bool
    cut: bool


class Driver(ABC):
    """The environments of one table: one for each variant of the options, made when it is first played.

    An environment must be a pure function of its reset's seed and the actions.
    """

    def __init__(self, make: Callable[[int], Any], variants: int = 1) -> None:
        """`make` makes the environment of a variant."""
        self._make = make
        self._variants = variants
        self._made: dict[int, Any] = {}
        self.env: Any = None
        """The environment now played."""

    def start(self, seed: int) -> None:
        """Start a game; the seed chooses its variant too."""
        variant = mix_ints(seed, _VARIANT) % self._variants
        if variant not in self._made:
            self._made[variant] = self._make(variant)
        self.env = self._made[variant]
        self._reset(seed)

    @abstractmethod
    def _reset(self, seed: int) -> None:
        """Reset the environment with this seed."""

    @abstractmethod
    def acting(self) -> list[AgentObservation]:
        """The seats that must act, in seat order; none at the end of a game."""

    def final(self) -> list[AgentObservation]:
        """The seats that would act next in a game that was cut off; none if their final observations are unknown."""
        return self.acting()

    @abstractmethod
    def play(self, seats: Sequence[int], actions: Sequence[Any]) -> Played:
        """Play these seats' actions."""

    def state(self) -> NDArray[Any]:
        """The environment's global state, where the game declares one."""
        return np.asarray(self.env.state())

    def text(self) -> str | None:
        """The environment's own picture in text, if it has one."""
        return str(self.env.render()) if getattr(self.env, "render_mode", None) == "ansi" else None


@dataclass(frozen=True, kw_only=True)
class TableSetup:
    """How tables are driven; it pickles, so that another process can do it."""

    layout: Layout
    driver: Callable[[], Driver]
    encoders: tuple[ObservationEncoder, ...]
    """Of each seat."""
    actions: tuple[ActionLayout, ...]
    """Of each seat."""


class DrivenTables:
    """Steps the tables from `first` to `end`, one after the other."""

    def __init__(self, setup: TableSetup, arrays: TableArrays, first: int, end: int) -> None:
        self._setup, self._arrays = setup, arrays
        self._width = setup.layout.width
        self.drivers = {table: setup.driver() for table in range(first, end)}
        self._rows = {
            slot: {name: part[slot] for name, part in arrays.observations.items()}
            for slot in range(first * self._width, end * self._width)
        }
        counts = [layout.mask_width or 0 for layout in setup.actions]
        width = 0 if arrays.legal is None else arrays.legal.shape[1]
        self._own_actions = np.arange(width) < np.array(counts)[:, None]
        self._unmasked: dict[int, int | None] = dict.fromkeys(self._rows)
        """The seat whose actions are all legal in a slot, as its row of the mask says; None: the row says otherwise."""

    def start(self, tables: Sequence[int], seeds: Sequence[int]) -> None:
        """Start the games with these seeds at these tables."""
        for table, seed in zip(tables, seeds, strict=True):
            self.drivers[table].start(seed)
            self._look(table)

    def step(self) -> None:
        """Play the actions in the arrays at every table."""
        arrays, layouts = self._arrays, self._setup.actions
        first, end = min(self.drivers), max(self.drivers) + 1
        # Lists: reading single numbers of arrays costs more than the rest of this loop.
        acting, all_seats = arrays.acting.tolist(), arrays.seats.tolist()
        actions = arrays.actions if arrays.actions.ndim > 1 else arrays.actions.tolist()
        results: list[tuple[bool, bool]] = []
        rewards: list[tuple[int, int, float]] = []
        width = self._width
        for table, driver in self.drivers.items():
            slot = table * width
            seats = all_seats[slot : slot + acting[table]]
            chosen = [layouts[seat].to_environment(actions[slot + place]) for place, seat in enumerate(seats)]
            played = driver.play(seats, chosen)
            for seat, reward in played.rewards.items():
                rewards.append((table, seat, reward))
            results.append((played.over, played.cut))
            if not played.over:
                self._look(table)
            elif played.cut:
                self._show(table, driver.final())
        arrays.done[first:end], arrays.truncated[first:end] = np.array(results, np.bool_).T
        arrays.rewards[first:end] = 0
        tables, seats_paid, paid = zip(*rewards, strict=True) if rewards else ((), (), ())
        arrays.rewards[list(tables), list(seats_paid)] = paid

    def states(self) -> None:
        """Write the global states of all tables into the arrays."""
        assert self._arrays.states is not None
        for table, driver in self.drivers.items():
            self._arrays.states[table] = driver.state()

    def text(self, table: int) -> str | None:
        """See `Driver.text`."""
        return self.drivers[table].text()

    def _look(self, table: int) -> None:
        """Write what the seats to act at this table see."""
        self._show(table, self.drivers[table].acting())

    def _show(self, table: int, shown: Sequence[AgentObservation]) -> None:
        arrays, slot = self._arrays, table * self._width
        arrays.acting[table] = len(shown)
        for each in shown:
            encoder = self._setup.encoders[each.seat]
            encoder.write(each.value, self._rows[slot])
            arrays.seats[slot] = each.seat
            if arrays.legal is not None:
                mask = encoder.mask(each.value, each.info)
                if mask is not None or self._unmasked[slot] != each.seat:
                    self._mark_legal(arrays.legal[slot], each.seat, mask)
                    self._unmasked[slot] = each.seat if mask is None else None
            slot += 1

    def _mark_legal(self, row: NDArray[np.bool_], seat: int, mask: NDArray[np.bool_] | None) -> None:
        row[:] = self._own_actions[seat]
        if mask is not None:
            row[: len(mask)] &= mask
