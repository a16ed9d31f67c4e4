"""The bare loop: connect-four self-play with PPO in plain processes. No Ray, no league, no tallies, two seats only.

It shares with Lanista only what any script would import (the game, the network, PPO's arithmetic), so that the
ratio of the two is the price of everything around them. `python -m benchmarks.bare` prints its rate.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import torch

from benchmarks.peers.rates import Slice
from orchestrator.spec.algorithms.actor_critic import PpoOptions
from workers.algorithms.actor_critic.ppo import Ppo
from workers.algorithms.learner import Learner, Reduce
from workers.buffers.fresh import Fresh
from workers.crews.all_reduce.shared_memory import SharedMemoryAllReduce
from workers.games.builtin.connect_four import ConnectFour
from workers.models.heads import choose
from workers.models.mlp import Mlp
from workers.rollout.batch import PENDING, TERMINAL, Experience


@dataclass(frozen=True, kw_only=True)
class BareSettings:
    """The loop's sizes; the options are PPO's."""

    processes: int = 2
    tables: int = 1024
    hidden: tuple[int, ...] = (64, 64)
    options: dict[str, Any] = field(default_factory=dict)
    autocast: torch.dtype | None = None
    """The type in which the network computes; None: float32."""
    independent: bool = False
    """Processes that do not average gradients: the limit if the all-reduce cost nothing."""

    @property
    def averages(self) -> bool:
        return self.processes > 1 and not self.independent


class BareLoop:
    """Alternates between sampling into [steps, tables] arrays and learning from them."""

    def __init__(self, settings: BareSettings, rank: int, reduce: Reduce | None) -> None:
        self._options = PpoOptions(**settings.options)
        self._rng = np.random.default_rng([7, rank])
        self._game = ConnectFour(tables=settings.tables)
        self._game.reset(self._rng.integers(0, 2**64, settings.tables, dtype=np.uint64))
        torch.manual_seed(7)
        spec = self._game.spec
        model = Mlp(observation_shape=spec.observation_shape, actions=spec.actions, hidden=settings.hidden)
        self._learner = Learner(model)
        self._learner.optimiser(learning_rate=self._options.learning_rate, gradient_clip=self._options.gradient_clip)
        self._learner.to(torch.device("cpu"), settings.autocast)
        self._learner.connect(reduce)
        self._buffer = Fresh()
        self._model = model
        rows = self._options.rollout_steps * settings.tables * (1 if settings.independent else settings.processes)
        self._ppo = Ppo(self._options, rows)
        # The last two steps of a batch have no successor yet; they are carried over to the next batch.
        shape = (self._options.rollout_steps + 2, settings.tables)
        self._observations = np.zeros((*shape, *spec.observation_shape), np.float32)
        self._legal = np.ones((*shape, spec.actions), np.bool_)
        self._actions = np.zeros(shape, np.int64)
        self._log_probs, self._values = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        self._own = np.zeros(shape, np.float32)
        self._done = np.ones(shape, np.bool_)
        self._first = True

    def round(self) -> int:
        """One batch, sampled and trained; returns how many decisions it learnt from."""
        for step in range(2, len(self._actions)):
            self._step(step)
        batch = self._batch()
        self._buffer.add(batch)
        for _ in self._ppo.update(self._learner, self._buffer, self._rng):
            pass
        for array in (self._observations, self._legal, self._actions, self._log_probs, self._values):
            array[:2] = array[-2:]
        self._own[:2], self._done[:2] = self._own[-2:], self._done[-2:]
        self._first = False
        return len(batch.trainable)

    def _step(self, step: int) -> None:
        turn = self._game.turn()
        self._observations[step], self._legal[step] = turn.observations, turn.legal
        with torch.inference_mode():
            observations = torch.from_numpy(self._observations[step])
            with self._learner.autocast():
                logits, values = self._model(observations, torch.from_numpy(self._legal[step]))
            logits, values = logits.float(), values.float()
            actions, log_probs = choose(logits, self._rng.random(len(turn.tables), dtype=np.float32))
        self._actions[step], self._log_probs[step] = actions.numpy(), log_probs.numpy()
        self._values[step] = values.numpy()
        result = self._game.step(self._actions[step])
        self._own[step] = result.rewards[turn.tables, turn.seats]
        self._done[step] = result.done

    def _batch(self) -> Experience:
        """Two movers in turn: a decision is followed by the one two steps on, unless the game ended in between."""
        steps, tables = self._actions.shape
        rows = np.arange(steps * tables).reshape(steps, tables)
        links = np.full((steps, tables), PENDING)
        links[:-2] = np.where(self._done[:-2] | self._done[1:-1], TERMINAL, rows[2:])
        links[-2][self._done[-2] | self._done[-1]] = TERMINAL
        links[-1][self._done[-1]] = TERMINAL
        if self._first:
            links[:2] = PENDING
        else:  # games that ended before this batch began were learnt from in the last one
            links[0][self._done[0] | self._done[1]] = PENDING
            links[1][self._done[1]] = PENDING
        rewards = self._own.copy()
        ended_by_other = self._done[1:] & ~self._done[:-1]
        rewards[:-1][ended_by_other] = -self._own[1:][ended_by_other]
        count = steps * tables
        return Experience(
            columns={
                "obs": self._observations.reshape(count, *self._observations.shape[2:]),
                "legal": self._legal.reshape(count, -1),
                "action": self._actions.reshape(-1),
                "log_prob": self._log_probs.reshape(-1),
                "value": self._values.reshape(-1),
                "reward": rewards.reshape(-1),
            },
            next_row=links.reshape(-1),
            offsets=np.arange(0, count + 1, tables),
            streams=rows.reshape(-1),
            acted_by=np.zeros(count, np.int64),
            tables=count,
        )


class BarePeer:
    """The loop in several processes, as a peer of the benchmark."""

    def __init__(self, settings: BareSettings) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipes, self._processes = [], []
        for rank in range(settings.processes):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(settings, rank, theirs), daemon=True)
            process.start()
            self._pipes.append(ours)
            self._processes.append(process)
        if settings.averages:
            path, pids = self._pipes[0].recv(), [process.pid for process in self._processes]
            for pipe in self._pipes:
                pipe.send((path, pids))
        self._per_round = 0.0
        self.train(0.0)

    def train(self, seconds: float) -> Slice:
        rounds = max(1, round(seconds / self._per_round)) if self._per_round else 1
        began = time.perf_counter()
        for pipe in self._pipes:
            pipe.send(rounds)
        steps = sum(pipe.recv() for pipe in self._pipes)
        taken = time.perf_counter() - began
        self._per_round = taken / rounds
        return Slice(steps=steps, seconds=taken)

    def close(self) -> None:
        for pipe in self._pipes:
            pipe.send(0)
        for process in self._processes:
            process.join()


def _serve(settings: BareSettings, rank: int, pipe: Connection) -> None:
    torch.set_num_threads(1)
    loop = BareLoop(settings, rank, _joined(settings, rank, pipe).average if settings.averages else None)
    while rounds := pipe.recv():
        pipe.send(sum(loop.round() for _ in range(rounds)))


def _joined(settings: BareSettings, rank: int, pipe: Connection) -> SharedMemoryAllReduce:
    """The fastest all-reduce that we have, so that the ratio to this loop includes its cost."""
    group = SharedMemoryAllReduce(rank, settings.processes)
    if rank == 0:
        pipe.send(group.host())
    group.join(*pipe.recv())
    return group


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--tables", type=int, default=1024)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rollout-steps", type=int, default=16)
    parser.add_argument("--minibatch", type=int, default=8192)
    given = parser.parse_args()
    options = {"rollout_steps": given.rollout_steps, "minibatch": given.minibatch, "target_kl": 0.0}
    peer = BarePeer(BareSettings(processes=given.processes, tables=given.tables, options=options))
    try:
        peer.train(1.0)
        print(json.dumps({"bare": round(peer.train(given.seconds).rate)}))
    finally:
        peer.close()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
