"""Environment steps sampled and trained a second: Lanista's crew through Ray beside RLlib and beside a bare loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TypeVar

import torch

from benchmarks.peers.lanista import LanistaPeer
from benchmarks.peers.rates import Peer, interleave, say
from benchmarks.peers.rllib.client import RllibPeer, RllibSettings
from benchmarks.peers.strength import BUILT_IN, OPENSPIEL
from benchmarks.speed.bare import BarePeer, BareSettings
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask, ProcessResources
from orchestrator.storage.artifacts import ArtifactStore

EPOCHS = 4
HIDDEN = (64, 64)
_SCAN_SECONDS = 6.0
Choice = TypeVar("Choice")


def lanista_task(
    game: Component, *, actors: int, tables: int, steps: int, minibatch: int, autocast: str | None = None
) -> GenerationTask:
    """PPO self-play in which every sampled step is trained on, four times: no early stop, no random openings."""
    options = {"epochs": EPOCHS, "target_kl": 0.0, "rollout_steps": steps, "minibatch": minibatch}
    return GenerationTask(
        game=game,
        model=Component(id="mlp", options={"hidden": list(HIDDEN)}),
        algorithm=Component(id="ppo", options=options),
        steps=1,
        seed=1,
        tables=tables,
        rollout_actors=actors,
        opening_share=0.0,
        resources=ProcessResources(autocast=autocast),
    )


SAME_RLLIB = [RllibSettings(runners=runners, envs=envs) for runners, envs in ((0, 64), (1, 64), (2, 16), (2, 64))]
SAME_LANISTA = [
    lanista_task(OPENSPIEL, actors=1, tables=250, steps=16, minibatch=512),
    lanista_task(OPENSPIEL, actors=2, tables=125, steps=16, minibatch=512),
]
"""Batches of 4,000 steps, divided differently into tables and steps."""
BEST_RLLIB = [
    RllibSettings(runners=2, envs=64),
    RllibSettings(runners=2, envs=64, batch=16_000, minibatch=4_000),
    RllibSettings(runners=2, envs=128, batch=32_000, minibatch=8_000),
    RllibSettings(runners=2, envs=256, batch=64_000, minibatch=32_000),
]
BEST_LANISTA = [
    lanista_task(BUILT_IN, actors=1, tables=1024, steps=32, minibatch=8_192),
    lanista_task(BUILT_IN, actors=2, tables=1024, steps=32, minibatch=8_192),
    lanista_task(BUILT_IN, actors=2, tables=1024, steps=32, minibatch=16_384),
    lanista_task(BUILT_IN, actors=2, tables=1024, steps=64, minibatch=32_768),
    lanista_task(BUILT_IN, actors=2, tables=1024, steps=32, minibatch=8_192, autocast="bf16"),
    lanista_task(BUILT_IN, actors=2, tables=1024, steps=64, minibatch=32_768, autocast="bf16"),
]
"""bfloat16 is a setting of the trial file like the others; RLlib has none like it."""


@dataclass
class Throughput:
    """The parts `same`, `best` and `bare` of one run."""

    store: ArtifactStore
    rounds: int
    seconds: float
    _best: GenerationTask | None = None

    def same(self) -> dict[str, float]:
        """Identical settings on OpenSpiel's game; each side has its own number of runners, environments and tables."""
        rival, task = self._fastest(RllibPeer, SAME_RLLIB), self._fastest(self._lanista, SAME_LANISTA)
        return self._beside("rllib", lambda: RllibPeer(rival), task)

    def best(self) -> dict[str, float]:
        """Each at its own best setting, four epochs for both."""
        rival = self._fastest(RllibPeer, BEST_RLLIB)
        return self._beside("rllib", lambda: RllibPeer(rival), self._best_task())

    def bare(self) -> dict[str, float]:
        """Lanista's best beside the same loop in a plain script on as many processes."""
        task = self._best_task()
        options = dict(task.algorithm.options)
        settings = BareSettings(
            processes=task.rollout_actors,
            tables=task.tables,
            hidden=HIDDEN,
            options=options,
            autocast=torch.bfloat16 if task.resources.autocast else None,
        )
        return self._beside("bare", lambda: BarePeer(settings), task)

    def _best_task(self) -> GenerationTask:
        if self._best is None:
            self._best = self._fastest(self._lanista, BEST_LANISTA)
        return self._best

    def _lanista(self, task: GenerationTask) -> LanistaPeer:
        return LanistaPeer(task, self.store, epochs=EPOCHS)

    def _beside(self, rival: str, make_rival: Callable[[], Peer], task: GenerationTask) -> dict[str, float]:
        """The median rates of both, and the ratio of Lanista's to the rival's."""
        with ExitStack() as stack:
            peers: dict[str, Peer] = {}
            peers[rival] = stack.enter_context(closing(make_rival()))
            peers["lanista"] = stack.enter_context(closing(self._lanista(task)))
            rates = interleave(peers, rounds=self.rounds, seconds=self.seconds)
        ratio = rates["lanista"] / rates[rival]
        return {rival: round(rates[rival]), "lanista": round(rates["lanista"]), "ratio": round(ratio, 2)}

    def _fastest(self, make: Callable[[Choice], Peer], choices: Sequence[Choice]) -> Choice:
        """The choice with the highest rate in one short slice after a warm-up."""
        rates = []
        for choice in choices:
            with closing(make(choice)) as peer:
                peer.train(_SCAN_SECONDS / 3)
                rates.append(peer.train(_SCAN_SECONDS).rate)
            say(f"  {rates[-1]:9,.0f} steps/s: {_described(choice)}")
        return choices[rates.index(max(rates))]


def _described(choice: object) -> str:
    if not isinstance(choice, GenerationTask):
        return f"RLlib, {choice}"
    options = choice.algorithm.options
    return (
        f"Lanista, {choice.game.id}, {choice.rollout_actors} actors x {choice.tables} tables x "
        f"{options['rollout_steps']} steps, minibatch {options['minibatch']}, {choice.resources.autocast or 'f32'}"
    )
