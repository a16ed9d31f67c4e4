"""Sequences of decisions for recurrent models: stored state and burn-in (Kapturowski et al., 2019)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workers.buffers.contract import Draw
from workers.buffers.prioritised import Prioritised
from workers.buffers.replay import Replay
from workers.inference.actor import STATE
from workers.rollout.batch import PENDING


class Sequences(Replay):
    """Draws `length` consecutive decisions of one seat, after `burn_in` that only bring the state up to date.

    Columns of a draw are [burn_in + length, rows, ...]; "state" is [rows, ...], the state stored before the first
    decision. "mask" is 1 where a decision is to be learnt from, 0 in the burn-in and after the end of a game;
    "valid" is 1 in the burn-in too.
    """

    def __init__(self, *, capacity: int, length: int, burn_in: int = 0, **options: Any) -> None:
        super().__init__(capacity=capacity, **options)
        if length < 1 or burn_in < 0:
            raise ValueError(f"sequences need length >= 1 and burn_in >= 0, not {length} and {burn_in}")
        self.length, self.burn_in = length, burn_in

    def draw(self, rows: int, rng: np.random.Generator) -> Draw | None:
        if self._drawable < self._warm_up:
            return None
        numbers, weights = self._choose(rows, rng)
        steps, valid = [], []
        slots, there = numbers % self.capacity, np.ones(rows, np.bool_)
        for _ in range(self.burn_in + self.length):
            steps.append(self._gather(slots))
            valid.append(there)
            after = self._next[slots]
            there = there & (after >= 0) & (self._next[after % self.capacity] != PENDING)
            slots = np.where(there, after % self.capacity, slots)
        columns = {name: np.stack([each[name] for each in steps]) for name in steps[0]}
        for name in [name for name in columns if name.partition("/")[0] == STATE]:
            columns[name] = columns[name][0]
        columns["valid"] = np.stack(valid).astype(np.float32)
        columns["mask"] = columns["valid"].copy()
        columns["mask"][: self.burn_in] = 0.0
        return Draw(columns=columns, ids=numbers, weights=weights)


class PrioritisedSequences(Sequences, Prioritised):
    """Sequences drawn by the priority of their first decision, which is that of the whole sequence."""
