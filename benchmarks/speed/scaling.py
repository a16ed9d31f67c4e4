"""How the crew scales: steps a second with 1 and 2 processes, and with 1, 4, 16 and 64 opponents in play.

`speedup` is with minibatches of 8,192 rows, `speedup_default` with the default of 1,024. `independent` is what two bare
loops that share nothing do against one: the limit of these cores. `mixed_opponents` is the cost of 64 opponents, three
quarters convolutional nets and one quarter bots, as a multiple of the cost of one convolutional opponent.
`python -m benchmarks.scaling --json` measures all in one run, in turn, on the crews that Lanista really runs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import ray

from benchmarks.peers.lanista import LanistaPeer
from benchmarks.peers.rates import interleave, say
from benchmarks.speed.bare import BarePeer, BareSettings
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask, PlannedOpponent, Topology
from orchestrator.storage.artifacts import ArtifactStore
from workers.checkpoints import Checkpoint, save
from workers.crews.rollout_context import build_game
from workers.models.contract import build_model

GAME = Component(id="connect_four")
MODEL = Component(id="mlp", options={"hidden": [64, 64]})
OPTIONS = {"rollout_steps": 32, "target_kl": 0.0}
MINIBATCH, DEFAULT_MINIBATCH = 8192, 1024
PROCESSES = (1, 2)
OPPONENTS = (1, 4, 16, 64)
CONV = Component(id="conv", options={"channels": 16, "blocks": 1, "hidden": 64})
BOTS = ("random", "first-legal")


def base_task(minibatch: int = MINIBATCH) -> GenerationTask:
    ppo = Component(id="ppo", options={**OPTIONS, "minibatch": minibatch})
    return GenerationTask(game=GAME, model=MODEL, algorithm=ppo, steps=1, seed=1, tables=1024, topology=Topology.FUSED)


def mixed_pool(store: ArtifactStore, size: int) -> tuple[PlannedOpponent, ...]:
    """A pool of convolutional nets, every fourth opponent a bot instead, all equally likely."""
    return tuple(
        replace(opponent, checkpoint=None, bot=BOTS[number // 4 % len(BOTS)]) if number % 4 == 3 else opponent
        for number, opponent in enumerate(pool(store, size, CONV))
    )


def pool(store: ArtifactStore, size: int, model: Component = MODEL) -> tuple[PlannedOpponent, ...]:
    """A pool of different opponents, all equally likely, without self-play."""
    spec = build_game(GAME, 1).spec
    refs = [
        save(store, Checkpoint(model=model, game=GAME, weights=build_model(model, spec, seed).state_dict()))
        for seed in range(size)
    ]
    return tuple(
        PlannedOpponent(player=f"p{number}", version=f"v{number}", probability=1 / size, checkpoint=ref)
        for number, ref in enumerate(refs)
    )


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """How long to measure, and where checkpoints go."""

    store: ArtifactStore
    rounds: int
    seconds: float

    def crews(self, tasks: Mapping[str, GenerationTask]) -> dict[str, float]:
        """The median rate of each task's crew, measured in turn."""
        return self._rates({name: LanistaPeer(task, self.store, epochs=4) for name, task in tasks.items()})

    def processes(self, minibatch: int) -> dict[str, float]:
        """Crews of one process and of several."""
        return self.crews({str(count): replace(base_task(minibatch), rollout_actors=count) for count in PROCESSES})

    def independent(self, minibatch: int) -> dict[str, float]:
        """Bare loops that share nothing."""
        options = {**OPTIONS, "minibatch": minibatch}
        return self._rates(
            {
                str(count): BarePeer(BareSettings(processes=count, options=options, independent=True))
                for count in PROCESSES
            }
        )

    def opponents(self) -> dict[str, float]:
        """Crews of one process with pools of opponents."""
        return self.crews({str(count): replace(base_task(), opponents=pool(self.store, count)) for count in OPPONENTS})

    def mixed_opponents(self) -> dict[str, float]:
        """Crews of one process and a convolutional learner, with one opponent and with 64 mixed ones."""
        task = replace(base_task(), model=CONV)
        return self.crews({str(count): replace(task, opponents=mixed_pool(self.store, count)) for count in (1, 64)})

    def _rates(self, peers: Mapping[str, LanistaPeer | BarePeer]) -> dict[str, float]:
        try:
            return interleave(peers, rounds=self.rounds, seconds=self.seconds)
        finally:
            for peer in peers.values():
                peer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    given = parser.parse_args()
    # More than the machine may have: crews take turns, so only one works at a time.
    ray.init(num_cpus=16, include_dashboard=False, log_to_driver=False)
    try:
        with tempfile.TemporaryDirectory() as folder:
            result = measure(Measurement(store=ArtifactStore(folder), rounds=given.rounds, seconds=given.seconds))
    finally:
        ray.shutdown()
    print(json.dumps(result) if given.json else _table(result))


def measure(measurement: Measurement) -> dict[str, Any]:
    """All parts, one after the other."""
    result: dict[str, Any] = {}
    for suffix, minibatch in (("", MINIBATCH), ("_default", DEFAULT_MINIBATCH)):
        say(f"processes, minibatches of {minibatch}:")
        crews = measurement.processes(minibatch)
        say("bare loops that share nothing:")
        bare = measurement.independent(minibatch)
        result[f"processes{suffix}"] = _rounded(crews)
        result[f"independent_processes{suffix}"] = _rounded(bare)
        result[f"speedup{suffix}"] = round(crews["2"] / crews["1"], 3)
        result[f"independent{suffix}"] = round(bare["2"] / bare["1"], 3)
    say("opponents:")
    opponents = measurement.opponents()
    result["opponents"] = _rounded(opponents)
    result["cost_of_64_opponents"] = round(1 - opponents["64"] / opponents["1"], 3)
    say("mixed opponents:")
    mixed = measurement.mixed_opponents()
    result["mixed_opponents_rates"] = _rounded(mixed)
    result["mixed_opponents"] = round(mixed["1"] / mixed["64"], 3)
    return result


def _rounded(rates: Mapping[str, float]) -> dict[str, int]:
    return {name: round(rate) for name, rate in rates.items()}


def _table(result: Mapping[str, object]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in result.items())


if __name__ == "__main__":
    main()
