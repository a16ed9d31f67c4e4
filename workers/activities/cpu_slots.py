"""CPUs for crews: generations beyond what Ray can hold at once wait here, where they can still be stopped."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from league.training_priority import Urgency
from workers.activities.progress_watch import ProgressWatch
from workers.crews.errors import CrewUnavailable, GenerationStopped

POLL_SECONDS = 0.2


class Room:
    """The CPUs of Ray, claimed by one generation at a time each; the most urgent first, equals as they come.

    They are counted at each claim and while it waits, for nodes come and go. Other drivers of the same Ray count them
    too: what both have claimed waits once more, for its place in Ray.
    """

    def __init__(self, cpus: Callable[[], int]) -> None:
        self._cpus = cpus
        self._claimed = 0
        self._queue: list[tuple[int, int]] = []
        self._arrivals = itertools.count()
        self._changed = threading.Condition()

    @contextmanager
    def claim(self, cpus: int, watch: ProgressWatch, urgency: int = Urgency.IN_STEP) -> Iterator[None]:
        """Hold so many CPUs; waits for its turn, and raises GenerationStopped when told to stop meanwhile."""
        self._wait_for_turn(cpus, watch, urgency)
        try:
            yield
        finally:
            with self._changed:
                self._claimed -= cpus
                self._changed.notify_all()

    def _wait_for_turn(self, cpus: int, watch: ProgressWatch, urgency: int) -> None:
        with self._changed:
            turn = (urgency, next(self._arrivals))
            self._queue.append(turn)
            try:
                while self._claimed + cpus > self._present(cpus) or min(self._queue) != turn:
                    watch.waits()
                    if watch.should_stop():
                        raise GenerationStopped("stopped while it waited for CPUs")
                    self._changed.wait(POLL_SECONDS)
                self._claimed += cpus
            finally:
                self._queue.remove(turn)
                self._changed.notify_all()

    def _present(self, cpus: int) -> int:
        """The CPUs that are there now, at least so many: whoever waits for more keeps all behind it waiting too."""
        if cpus > (present := self._cpus()):
            raise CrewUnavailable(f"the crew needs {cpus} CPUs, Ray has {present}")
        return present
