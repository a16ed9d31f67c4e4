"""The train worker's ledger of CPUs: generations wait here, where they can be stopped, until Ray has CPUs for them."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from league.training_priority import Urgency
from workers.crews.errors import CrewUnavailable, GenerationStopped

POLL_SECONDS = 0.2
MOST_SLOTS = 1024


class CpuLedger:
    """Reserves Ray's CPUs for generations, the most urgent first and first come first served among equals.

    Ray's CPUs are counted again at every reservation and while it waits, because nodes come and go; where Ray grows by
    itself, they are those that it may grow to. Other drivers of the same Ray cluster count the same CPUs: a crew whose
    CPUs both drivers reserved waits for its placement group.
    """

    def __init__(
        self,
        ray_cpus: Callable[[], float] = lambda: math.inf,
        slots: int | Callable[[], int] = MOST_SLOTS,
    ) -> None:
        """`slots`: generations under way at once, whatever their CPUs."""
        self._ray_cpus = ray_cpus
        self._slots = slots
        self._queue: list[tuple[int, int]] = []
        self._arrivals = itertools.count()
        self._changed = threading.Condition()
        self._holders: list[str] = []
        self.reserved = 0.0
        """CPUs of the generations under way."""

    @contextmanager
    def reserve(
        self,
        cpus: float,
        should_stop: Callable[[], bool] = lambda: False,
        on_waiting: Callable[[str], None] = lambda _: None,
        urgency: int = Urgency.IN_STEP,
        whose: str = "",
    ) -> Iterator[None]:
        """Hold this many CPUs. Waits until they are free; raises GenerationStopped if it should stop meanwhile.

        `whose` generation it is, is told to those that wait for it.
        """
        self._wait_for_turn(cpus, should_stop, on_waiting, urgency)
        self._holders.append(whose)
        try:
            yield
        finally:
            with self._changed:
                self._holders.remove(whose)
                self.reserved -= cpus
                self._changed.notify_all()

    @property
    def total(self) -> float:
        """Ray's CPUs now."""
        return self._ray_cpus()

    def fitting(self, cpus: float) -> int:
        """How many generations of this many CPUs can be under way at once."""
        slots = self._slots() if callable(self._slots) else self._slots
        return int(max(1, min(slots, self._ray_cpus() // cpus)))

    def _wait_for_turn(
        self, cpus: float, should_stop: Callable[[], bool], on_waiting: Callable[[str], None], urgency: int
    ) -> None:
        with self._changed:
            turn = (urgency, next(self._arrivals))
            self._queue.append(turn)
            try:
                while self.reserved + cpus > self._total_for(cpus) or min(self._queue) != turn:
                    on_waiting(self._reason(cpus))
                    if should_stop():
                        raise GenerationStopped("stopped while it waited for CPUs")
                    self._changed.wait(POLL_SECONDS)
                self.reserved += cpus
            finally:
                self._queue.remove(turn)
                self._changed.notify_all()

    def _reason(self, cpus: float) -> str:
        named = list(dict.fromkeys(whose for whose in self._holders if whose))
        behind = f" behind {', '.join(named[:3])}{' and others' if len(named) > 3 else ''}" if named else ""
        return f"a crew of {cpus:g} CPUs{behind}"

    def _total_for(self, needed: float) -> float:
        """Ray's CPUs now. Raises if fewer than `needed`: such a reservation would block all behind it forever."""
        if needed > (total := self._ray_cpus()):
            raise CrewUnavailable(f"the crew needs {needed:g} CPUs, Ray has {total:g}")
        return total
