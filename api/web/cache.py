"""What is costly to make, kept for as long as it is true."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class KeptByState(Generic[Value]):
    """The newest values, each with the state it was made from; of many threads that ask at once, one makes it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, tuple[Hashable, Value]] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, state: Hashable, make: Callable[[], Value]) -> Value:
        """The value of this state."""
        kept = self._kept.get(key)
        if kept is not None and kept[0] == state:
            return kept[1]
        with self._making_of(key):
            kept = self._kept.get(key)
            if kept is not None and kept[0] == state:
                return kept[1]
            return self._keep(key, state, make())

    def _making_of(self, key: Hashable) -> threading.Lock:
        with self._lock:
            if len(self._making) > 10 * self._most:
                self._making.clear()
            return self._making.setdefault(key, threading.Lock())

    def _keep(self, key: Hashable, state: Hashable, value: Value) -> Value:
        with self._lock:
            self._kept[key] = (state, value)
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return value
