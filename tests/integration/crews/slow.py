"""Games that take their time, games that break, and an algorithm that counts its updates."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orchestrator.spec.algorithms.base import AlgorithmOptions
from workers.algorithms.contract import Algorithm, Metrics
from workers.algorithms.learner import Learner
from workers.buffers.contract import Buffer
from workers.games.builtin.tic_tac_toe import TicTacToe
from workers.games.protocol import StepResult


class SlowGame(TicTacToe):
    """Tic-tac-toe at half a minute a move; the file named by `begun` tells that one is being made."""

    def __init__(self, tables: int, begun: str) -> None:
        super().__init__(tables=tables)
        self._begun = Path(begun)

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        self._begun.touch()
        time.sleep(30)
        return super().advance(actions)


class LongGame(TicTacToe):
    """Tic-tac-toe at a tenth of a second a move, or whatever else is asked for."""

    def __init__(self, tables: int, seconds: float = 0.1) -> None:
        super().__init__(tables=tables)
        self._seconds = seconds

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        time.sleep(self._seconds)
        return super().advance(actions)


class BrokenGame(TicTacToe):
    """A game whose author made a mistake."""

    def __init__(self, tables: int) -> None:
        super().__init__(tables=tables)
        raise KeyError("the board's colour")


class OddError(Exception):
    """An error that cannot travel between processes."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(first)
        self.lock = threading.Lock()


class OddGame(TicTacToe):
    """A game that raises such an error in the middle."""

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        raise OddError("odd", "indeed")


class HangingGame(TicTacToe):
    """A game whose making takes too long; the file named by `makers` tells which processes it held up."""

    def __init__(self, tables: int, makers: str) -> None:
        with Path(makers).open("a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(15)
        super().__init__(tables=tables)


class NumberedUpdates(Algorithm):
    """Learns nothing; its metrics are the number of the update, and 1 for each."""

    count_metrics = frozenset({"updates"})
    number = 0

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        self.number += 1
        learner.skip()
        yield {"number": float(self.number), "updates": 1.0}


class LateUpdates(Algorithm):
    """Learns nothing, slowly; counts its updates and the decisions that they saw."""

    count_metrics = frozenset({"updates", "rows_learnt"})

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        time.sleep(0.2)
        learner.skip()
        yield {"updates": 1.0, "rows_learnt": float(buffer.newest.trainable_rows)}


class LongOptions(AlgorithmOptions):
    begun: str


class LongUpdates(Algorithm):
    """An update of days, one gradient step after the other; the file named by `begun` tells that it has begun.

    The second process of a crew ends its own after five steps, and takes those of the first with it.
    """

    Options = LongOptions
    options: LongOptions

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        for number in range(10**7):
            if number == 5 and self.processes > 1 and rng.bit_generator.seed_seq.entropy[-1] == 1:  # type: ignore
                return
            # two exchanges between yields: a stop may come in the midst
            for _ in range(2):
                learner.descend(sum(parameter.square().sum() for parameter in learner.model.parameters()))
            Path(self.options.begun).touch()
            time.sleep(0.005)
            yield {}
