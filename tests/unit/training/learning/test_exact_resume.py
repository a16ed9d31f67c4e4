"""A generation goes on from its checkpoint exactly as in the process that made it: networks, optimisers, buffers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from league.types import CheckpointRef
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from workers.algorithms.metrics import MetricMeans
from workers.checkpoints import Checkpoint, decode, load
from workers.crews.actors import FusedActor
from workers.crews.plan import crew_plan

OPTIONS = {"rollout_steps": 8, "capacity": 600, "kept": True}
SEVERAL = GenerationTask(
    game=Component(id="kuhn_poker"),
    model=Component(id="gru", options={"hidden": 8, "state": 8}),
    algorithm=Component(id="tests.unit.training.own_algorithms:RecurrentActorCritic", options=OPTIONS),
    steps=128,
    seed=3,
    tables=8,
    player="main",
)
DQN = replace(
    SEVERAL,
    game=Component(id="tic_tac_toe"),
    model=Component(id="mlp", options={"hidden": [16]}),
    algorithm=Component(
        id="examples.own_algorithm:Dqn", options={**OPTIONS, "warm_up": 50, "minibatch": 32, "target_rate": 0.1}
    ),
)
PPO = replace(DQN, algorithm=Component(id="ppo", options={"rollout_steps": 8, "minibatch": 32}))
ALPHAZERO = replace(
    DQN,
    algorithm=Component(
        id="alphazero", options={**OPTIONS, "rollout_steps": 4, "warm_up": 50, "minibatch": 32, "simulations": 4}
    ),
)


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path))


def new_process(task: GenerationTask, store: ArtifactStore) -> FusedActor:
    actor = FusedActor(crew_plan(task), store, 0)
    actor.set_up()
    return actor


def generation(actor: FusedActor, task: GenerationTask, reload: bool) -> tuple[CheckpointRef, MetricMeans]:
    actor.prepare(task, reload)
    report = actor.advance(6)
    return actor.save(report.steps, [actor.store_buffer()]), report.metrics


ANCHORS: dict[str, dict[str, object]] = {
    "ppo with an initial anchor": {"anchor": "initial", "upgo": 0.5},
    "ppo with a lagged anchor": {"anchor": "lagged", "anchor_every": 5},
}
TASKS = {"two optimisers and a lagged copy": SEVERAL, "dqn of the example": DQN, "alphazero": ALPHAZERO} | {
    name: replace(PPO, algorithm=Component(id="ppo", options={"rollout_steps": 8, "minibatch": 32, **options}))
    for name, options in ANCHORS.items()
}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS.keys())
def test_a_new_process_goes_on_bit_for_bit(task: GenerationTask, store: ArtifactStore) -> None:
    warm = new_process(task, store)
    first, _ = generation(warm, task, True)
    following = replace(task, seed=4, checkpoint=first)
    continued, _ = generation(warm, following, False)
    resumed, _ = generation(new_process(task, store), following, True)
    assert resumed.sha256 == continued.sha256 != first.sha256
    again, _ = generation(warm, following, True)  # as after a generation that was stopped half-way
    assert again.sha256 == continued.sha256


def test_the_checkpoint_has_all_networks_copies_and_optimisers(store: ArtifactStore) -> None:
    ref, _ = generation(new_process(SEVERAL, store), SEVERAL, True)
    checkpoint = load(store, ref)
    sections = {"/".join(name.split("/")[:2]) for name in checkpoint.learner}
    assert sections == {
        "nets/critic",
        "lagged/critic",
        "optimisers/policy",
        "optimisers/critic",
        "counters/sequences",
    }
    assert checkpoint.learner["optimisers/policy/updates"] == checkpoint.learner["optimisers/critic/updates"] > 0
    assert not torch.equal(checkpoint.learner["nets/critic/weight"], checkpoint.learner["lagged/critic/weight"])
    assert len(checkpoint.buffers) == 1


def test_players_that_share_a_process_keep_their_own_buffers(store: ArtifactStore) -> None:
    shared, alone = new_process(DQN, store), new_process(DQN, store)
    soft = replace(DQN, algorithm=Component(id=DQN.algorithm.id, options={**DQN.algorithm.options, "kept": False}))
    lone: CheckpointRef | None = None
    shares: dict[str, CheckpointRef | None] = {"a": None, "b": None}
    for number in range(3):
        task = replace(soft, seed=10 + number)
        lone, _ = generation(alone, replace(task, player="a", checkpoint=lone), number == 0)
        for player, ref in list(shares.items()):
            shares[player], _ = generation(shared, replace(task, player=player, checkpoint=ref), True)
    assert lone is not None and shares["a"] is not None and shares["b"] is not None
    assert shares["a"].sha256 == lone.sha256 == shares["b"].sha256


def test_an_algorithm_of_one_loss_learns(store: ArtifactStore) -> None:
    algorithm = Component(
        id="tests.unit.training.own_algorithms:Regression", options={"minibatch": 64, "learning_rate": 0.01}
    )
    task = replace(PPO, algorithm=algorithm)
    actor = new_process(task, store)
    ref, losses = None, []
    for number in range(6):
        ref, metrics = generation(actor, replace(task, seed=number, checkpoint=ref), number == 0)
        losses.append(metrics.values()["loss"])
    assert losses[-1] < 0.7 * losses[0]


def test_an_algorithm_of_ones_own_schedules_by_the_players_steps(store: ArtifactStore) -> None:
    annealed = Component(id="tests.unit.training.own_algorithms:Annealed", options={"minibatch": 64})
    task = replace(PPO, algorithm=annealed)
    first, _ = generation(new_process(task, store), task, True)
    scheduled_at = load(store, first).learner["counters/scheduled_at"]
    assert 0 < scheduled_at < load(store, first).steps, "the steps before the last update"
    actor = new_process(task, store)
    second, _ = generation(actor, replace(task, checkpoint=first), True)
    assert load(store, second).learner["counters/scheduled_at"] == load(store, first).steps + scheduled_at


FORMAT_1 = Path(__file__).parent / "recorded" / "format-1.safetensors"
"""A checkpoint of tic-tac-toe that format 1 wrote after one generation of PPO."""
FORMAT_1_NEXT = Path(__file__).parent / "recorded" / "format-1-next.safetensors"
"""The one after it, also written by format 1: seed 4, 6 updates."""


def test_a_checkpoint_of_format_1_goes_on(store: ArtifactStore) -> None:
    before = decode(FORMAT_1.read_bytes())
    assert before.learner["optimisers/policy/updates"] > 0 and before.steps > 0
    ref = store.put(FORMAT_1.read_bytes(), kind="checkpoint")
    assert isinstance(before, Checkpoint)
    after = load(store, generation(new_process(PPO, store), replace(PPO, seed=4, checkpoint=ref), True)[0])
    wanted = decode(FORMAT_1_NEXT.read_bytes())
    assert after.steps == wanted.steps
    assert after.learner["optimisers/policy/updates"] == wanted.learner["optimisers/policy/updates"]
    for name, weights in wanted.weights.items():
        np.testing.assert_allclose(after.weights[name], weights, rtol=1e-4, atol=1e-5, err_msg=name)
