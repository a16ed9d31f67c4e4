"""CPU reservations in the train worker: generations that Ray has no CPUs for wait here, where they can be stopped."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from league.training_priority import Urgency
from workers.activities.progress_watch import ProgressWatch
from workers.crews.errors import CrewUnavailable, GenerationStopped

POLL_SECONDS = 0.2


class CpuSlots:
    """Reserves Ray's CPUs for generations, the most urgent first and first come first served among equals.

    Ray's CPUs are counted again at every reservation and while it waits, because nodes come and go. Other drivers of
    the same Ray cluster count the same CPUs: a crew whose CPUs both drivers reserved waits for its placement group.
    """

    def __init__(self, ray_cpus: Callable[[], int], slots: int = 1024) -> None:
        """`slots`: generations under way at once, whatever their CPUs."""
        self._ray_cpus = ray_cpus
        self._slots = slots
        self._reserved = 0
        self._queue: list[tuple[int, int]] = []
        self._arrivals = itertools.count()
        self._changed = threading.Condition()

    @contextmanager
    def reserve(self, cpus: int, watch: ProgressWatch, urgency: int = Urgency.IN_STEP) -> Iterator[None]:
        """Hold this many CPUs. Waits until they are free; raises GenerationStopped if `watch` says stop meanwhile."""
        self._wait_for_turn(cpus, watch, urgency)
        try:
            yield
        finally:
            with self._changed:
                self._reserved -= cpus
                self._changed.notify_all()

    def fitting(self, cpus: int) -> int:
        """How many generations of this many CPUs can be under way at once."""
        return max(1, min(self._slots, self._ray_cpus() // cpus))

    def _wait_for_turn(self, cpus: int, watch: ProgressWatch, urgency: int) -> None:
        with self._changed:
            turn = (urgency, next(self._arrivals))
            self._queue.append(turn)
            try:
                while self._reserved + cpus > self._total(cpus) or min(self._queue) != turn:
                    watch.waiting()
                    if watch.should_stop():
                        raise GenerationStopped("stopped while it waited for CPUs")
                    self._changed.wait(POLL_SECONDS)
                self._reserved += cpus
            finally:
                self._queue.remove(turn)
                self._changed.notify_all()

    def _total(self, needed: int) -> int:
        """Ray's CPUs now. Raises if fewer than `needed`: such a reservation would block all behind it forever."""
        if needed > (total := self._ray_cpus()):
            raise CrewUnavailable(f"the crew needs {needed} CPUs, Ray has {total}")
        return total
