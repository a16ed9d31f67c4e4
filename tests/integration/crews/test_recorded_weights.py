"""Fixed plans give the weights that they gave when they were recorded, bit for bit.

Rounding differs between processors and versions of torch, so each recording belongs to one of them. To record for
another, on a commit whose training is known to be right:

    python -m tests.integration.crews.test_recorded_weights
"""

import hashlib
import json
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import torch

from league.types import CheckpointRef
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationPlan, PlannedOpponent, Topology
from orchestrator.contracts.trials import InitialWeightsRequest
from orchestrator.storage.artifacts import ArtifactStore
from workers.activities.training import WeightsActivities
from workers.checkpoints import load
from workers.crews.generation import run_generation
from workers.crews.pool import CrewPool

RECORDED = Path(__file__).parent / "recorded" / "weights.json"

MLP = Component(id="mlp", options={"hidden": [32, 32]})
PPO = Component(id="ppo", options={"rollout_steps": 8, "minibatch": 256})
CASES = {
    "ppo": (Component(id="connect_four"), MLP, PPO, 128),
    "ppo of a recurrent model": (
        Component(id="kuhn_poker"),
        Component(id="gru", options={"hidden": 16, "state": 16}),
        PPO,
        128,
    ),
    "ppo of a convolutional model": (
        Component(id="tic_tac_toe"),
        Component(id="conv", options={"channels": 8, "blocks": 1, "hidden": 16}),
        PPO,
        96,
    ),
    "ppo with normalised observations": (
        Component(id="gymnasium", options={"env": "CartPole-v1"}),
        Component(id="mlp", options={"hidden": [32, 32], "normalise": True}),
        Component(id="ppo", options={"rollout_steps": 16, "minibatch": 64, "gamma": 0.99, "value_clip": 0.0}),
        16,
    ),
    "ppo of simultaneous moves": (Component(id="rock_paper_scissors"), MLP, PPO, 128),
    "vtrace": (Component(id="connect_four"), MLP, Component(id="vtrace", options={"minibatch": 512}), 128),
}


def machine() -> str:
    """What rounding depends on."""
    features = torch.backends.cpu.get_cpu_capability()
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    vendor = next((line.partition(":")[2].strip() for line in lines if line.startswith("vendor_id")), "")
    return f"torch {torch.__version__.partition('+')[0]}, {platform.machine()}, {vendor}, {features}"


def plan(case: str, checkpoint: CheckpointRef, generation: int, opponents: list[PlannedOpponent]) -> GenerationPlan:
    game, model, algorithm, tables = CASES[case]
    return GenerationPlan(
        trial="trial",
        player="main",
        player_name="main",
        generation=generation,
        attempt=1,
        decision=1,
        version=f"v{generation}",
        checkpoint=checkpoint,
        opponents=opponents,
        game=game,
        model=model,
        algorithm=algorithm,
        seed=100 + generation,
        steps=tables * 40,
        tables=tables,
        rollout_actors=1,
        trainers=1,
        topology=Topology.AUTO,
        threads=1,
        opening_share=0.5,
        opening_plies=None,
        stall_seconds=60.0,
    )


def initial(store: ArtifactStore, game: Component, model: Component) -> CheckpointRef:
    """The first weights, on two threads as when they were recorded: an orthogonal matrix depends on their number."""
    request = InitialWeightsRequest(trial="trial", game=game, model=model, seed=7)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        return WeightsActivities(store).make_initial_weights(request)
    finally:
        torch.set_num_threads(threads)


def trained(case: str, store: ArtifactStore) -> dict[str, Any]:
    """Hashes of the weights and the counted games of three generations; the last meets the first and a bot."""
    game, model, _, _ = CASES[case]
    ref = initial(store, game, model)
    alone = game.id == "gymnasium"
    past = [
        PlannedOpponent(player="main", version="v0", probability=0.25),
        PlannedOpponent(player="old", version="v1", probability=0.5, checkpoint=ref),
        PlannedOpponent(player="random", version="b", probability=0.25, bot="random"),
    ]
    hashes, games = [digest(store, ref)], []
    crews = CrewPool(store)
    for generation in (1, 2, 3):
        task = plan(case, ref, generation, past if generation == 3 and not alone else [])
        result = run_generation(task, store=store, progress=lambda _: None, should_stop=lambda: False, crews=crews)
        ref = result.checkpoint
        hashes.append(digest(store, ref))
        games += [[tally.wins, tally.draws, tally.losses] for tally in result.tallies]
    crews.close()
    return {"weights": hashes, "games": games}


def digest(store: ArtifactStore, ref: CheckpointRef) -> str:
    """The hash of all weights, whatever the checkpoint's format."""
    total = hashlib.sha256()
    for name, tensor in sorted(load(store, ref).weights.items()):
        total.update(name.encode())
        total.update(tensor.contiguous().numpy().tobytes())
    return total.hexdigest()


@pytest.mark.usefixtures("local_ray")
@pytest.mark.parametrize("case", CASES)
def test_weights_are_the_recorded_ones(case: str, store: ArtifactStore) -> None:
    recorded = json.loads(RECORDED.read_text())
    if machine() not in recorded:
        pytest.skip(f"nothing is recorded for {machine()}")
    assert trained(case, store) == recorded[machine()][case]


if __name__ == "__main__":
    import ray

    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    with tempfile.TemporaryDirectory() as folder:
        found = {case: trained(case, ArtifactStore(folder)) for case in CASES}
    recordings = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    if machine() in recordings and recordings[machine()] != found:
        sys.exit(f"{machine()} is recorded with other weights")
    RECORDED.write_text(json.dumps({**recordings, machine(): found}, indent=1, sort_keys=True) + "\n")
