"""Lanista in the benchmark: generations of a warm crew on Ray, each from the last checkpoint."""

from __future__ import annotations

import time
from dataclasses import replace

from benchmarks.peers.rates import Slice
from league.types import CheckpointRef
from orchestrator.contracts.generations import GenerationOutcome, GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from workers.crews.generation import run_generation
from workers.crews.pool import CrewPool
from workers.crews.task import Progress


class UnfairRun(RuntimeError):
    """The run did less work than it should have."""


class LanistaPeer:
    """Runs generations and times them whole: preparing, training, and writing the checkpoint.

    Ray must be initialised. `epochs` is checked after every generation: an update that ends early would not be
    what the rival does.
    """

    def __init__(self, task: GenerationTask, store: ArtifactStore, *, epochs: int | None = None) -> None:
        self._task, self._store, self._epochs = task, store, epochs
        self._crews = CrewPool(store)
        self._generation = 0
        self._rate = 0.0
        self.checkpoint: CheckpointRef | None = None
        # One generation of the fewest steps starts the actors; what it learnt is not kept.
        self._run(1)
        self._generation = 0

    def train(self, seconds: float) -> Slice:
        # The size of the first slice is a guess; later slices last about as long as requested.
        done = self._learn(max(1, int((self._rate or 20_000.0) * seconds)))
        self._rate = done.rate
        return done

    def close(self) -> None:
        self._crews.close()

    def _learn(self, steps: int) -> Slice:
        began = time.perf_counter()
        result = self._run(steps)
        seconds = time.perf_counter() - began
        self.checkpoint = result.checkpoint
        return Slice(steps=result.steps, seconds=seconds)

    def _run(self, steps: int) -> GenerationOutcome:
        self._generation += 1
        task = replace(
            self._task, steps=steps, checkpoint=self.checkpoint, seed=self._task.seed * 1_000_003 + self._generation
        )
        result = run_generation(task, store=self._store, progress=_ignore, should_stop=_never, crews=self._crews)
        if self._epochs is not None and result.metrics["epochs"] != self._epochs:
            raise UnfairRun(f"{result.metrics['epochs']:g} epochs were trained where {self._epochs} were to be")
        return result


def _ignore(progress: Progress) -> None:
    """Progress is not reported."""


def _never() -> bool:
    return False
