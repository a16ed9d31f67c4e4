"""Each value-based algorithm in generations: it learns and plays as an opponent."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from orchestrator.catalog import Component
from orchestrator.contracts.generations import PlannedOpponent
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.training.learning.test_exact_resume import new_process
from workers.algorithms.building import actor_of, build_learner
from workers.algorithms.contract import make_algorithm
from workers.algorithms.errors import BadAlgorithm, UpdateStopped
from workers.algorithms.metrics import MetricMeans
from workers.checkpoints import load
from workers.crews.actors import FusedActor, RolloutActor, TrainerActor
from workers.crews.plan import crew_plan
from workers.crews.task import GenerationTask, Topology
from workers.games.names import make_game
from workers.inference.grouped import architecture, group
from workers.models.noisy import noisy_layers
from workers.rollout.batch import Experience

IDS = ("dqn", "rainbow", "qrdqn", "r2d2", "sqn", "apex")
SMALL = {"rollout_steps": 8, "minibatch": 32, "replay_ratio": 4.0, "warm_up": 50}
OWN: dict[str, dict[str, Any]] = {
    "rainbow": {"value_low": -1.0, "value_high": 1.0, "atoms": 11},
    "r2d2": {"length": 3, "burn_in": 1},
    "qrdqn": {"quantiles": 5},
    "sqn": {"temperature": 0.5},
}


def task(name: str, game: str, **options: Any) -> GenerationTask:
    recurrent = name == "r2d2"
    small = {"hidden": 16, "state": 16} if recurrent else {"hidden": [16]}
    return GenerationTask(
        game=Component(id=game),
        model=Component(id="gru" if recurrent else "mlp", options=small),
        algorithm=Component(
            id=name,
            options={
                "rollout_steps": 8,
                "minibatch": 32,
                "replay_ratio": 4.0,
                "warm_up": 50,
                **OWN.get(name, {}),
                **options,
            },
        ),
        steps=128,
        seed=3,
        tables=8,
        player="main",
    )


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path))


@pytest.mark.parametrize("name", IDS)
def test_it_finds_the_answer_to_a_fixed_opponent(name: str, store: ArtifactStore) -> None:
    rock = PlannedOpponent(player="rock", version="rock", probability=1.0, bot="always-rock")
    given = task(name, "rock_paper_scissors", capacity=5000, learning_rate=0.01, target_rate=0.05)
    given = replace(given, opponents=(rock,))
    actor = new_process(given, store)
    actor.prepare(given, True)
    metrics = actor.advance(30).metrics.values()
    saved = actor_of(load(store, actor.save(0, [actor.store_buffer()])), make_game("rock_paper_scissors", 1).spec)
    assert np.isfinite(metrics["loss"]) and metrics["rows"] > 0
    game = make_game("rock_paper_scissors", 1)
    game.reset(np.zeros(1, np.uint64))
    turn = game.turn()
    legal = game.legal_of(turn)
    chosen = saved.decide(turn.observations, legal, None).actions
    assert (chosen == 1).all()  # paper


@pytest.mark.parametrize("name", IDS)
def test_opponents_decide_alike_together_and_one_by_one(name: str, store: ArtifactStore) -> None:
    spec = make_game("connect_four", 1).spec
    given = task(name, "connect_four")
    algorithm = make_algorithm(given.algorithm)
    actors = []
    for seed in range(6):
        learner = build_learner(algorithm, given.model, spec, seed)
        learner.nets.eval()
        actor = algorithm.actor(learner.all_nets())
        actor.component = given.model
        actors.append(actor)
    rng = np.random.default_rng(1)
    shown = rng.random((24, *spec.observation_shape), dtype=np.float32)
    legal = rng.random((24, spec.actions)) < 0.5
    legal[:, 2] = True
    draws = rng.random(24, dtype=np.float32)
    states = np.zeros((24, actors[0].state_size), np.float32) if actors[0].state_size else None
    assert len({architecture(actor) for actor in actors}) == 1
    together = group(actors).decide(shown, legal, draws, states)
    for number, actor in enumerate(actors):
        mine = slice(4 * number, 4 * number + 4)
        alone = actor.decide(shown[mine], legal[mine], draws[mine], None if states is None else states[mine])
        assert together.actions[mine].tolist() == alone.actions.tolist()
    assert legal[np.arange(24), together.actions].all()


def test_soft_policies_of_different_temperatures_run_apart(store: ArtifactStore) -> None:
    spec = make_game("tic_tac_toe", 1).spec
    kinds = set()
    for temperature in (0.5, 0.7):
        algorithm = make_algorithm(Component(id="sqn", options={"temperature": temperature}))
        kinds.add(architecture(algorithm.actor(build_learner(algorithm, Component(id="mlp"), spec, 1).all_nets())))
    assert len(kinds) == 2


def test_box_actions_are_refused_by_name() -> None:
    spec = make_game("gymnasium", 1, env="Pendulum-v1").spec
    for name in ("dqn", "sqn"):
        with pytest.raises(BadAlgorithm, match="Discrete"):
            build_learner(make_algorithm(Component(id=name)), Component(id="mlp"), spec, 1)


@pytest.mark.parametrize("name", [name for name in IDS if name != "r2d2"])
def test_recurrent_models_are_refused(name: str) -> None:
    spec = make_game("tic_tac_toe", 1).spec
    with pytest.raises(BadAlgorithm, match="needs a model without a recurrent state; ppo learns with one, and r2d2"):
        build_learner(make_algorithm(task(name, "tic_tac_toe").algorithm), Component(id="gru"), spec, 1)


def test_noisy_layers_explore_while_they_learn_and_are_still_in_matches() -> None:
    spec = make_game("tic_tac_toe", 1).spec
    algorithm = make_algorithm(task("rainbow", "tic_tac_toe", noise=2.0).algorithm)
    learner = build_learner(algorithm, Component(id="mlp", options={"hidden": [16, 16]}), spec, 1)
    assert len(noisy_layers(learner.model)) == 2  # not the first layer
    actor = algorithm.actor(learner.all_nets())
    rng = np.random.default_rng(2)
    shown = {"obs": np.repeat(rng.random((1, *spec.observation_shape), dtype=np.float32), 4, 0)}
    shown["legal"] = np.ones((4, 9), np.bool_)
    explored = [actor.act(shown, rng.random(4, dtype=np.float32), algorithm.explore(0))["action"] for _ in range(30)]
    assert len(np.unique(explored)) > 2
    fixed = [actor.act(shown, rng.random(4, dtype=np.float32))["action"] for _ in range(5)]
    assert len(np.unique(fixed)) == 1
    draws = rng.random(4, dtype=np.float32)
    again = [actor.act(shown, draws, 1.0)["action"].tolist() for _ in range(3)]
    assert again[0] == again[1] == again[2]


def test_a_stopped_update_leaves_no_noise_in_the_networks(store: ArtifactStore) -> None:
    given = task("rainbow", "tic_tac_toe", noise=2.0)
    actor = new_process(given, store)
    actor.prepare(given, True)
    actor.advance(2)  # beyond the warm-up
    training = actor._training
    updates = training.learner.updates
    training.stop()
    with pytest.raises(UpdateStopped):
        training.learn(MetricMeans())
    assert training.learner.updates > updates
    layers = [layer for net in training.learner.all_nets().values() for layer in noisy_layers(net)]
    assert layers and all(layer.noise is None for layer in layers)


def test_models_without_linear_layers_cannot_be_noisy() -> None:
    spec = make_game("tic_tac_toe", 1).spec
    algorithm = make_algorithm(Component(id="rainbow"))
    made = Component(id="tests.unit.algorithms.value_based.test_generations:Bare")
    with pytest.raises(BadAlgorithm, match="noise needs a model with linear layers"):
        build_learner(algorithm, made, spec, 1)


class Bare(torch.nn.Module):
    """A model without layers."""

    def __init__(self, *, observation_shape: tuple[int, ...], actions: int) -> None:
        super().__init__()
        self.values = torch.nn.Parameter(torch.zeros(actions + 1))

    def forward(self, observations: torch.Tensor, legal: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        out = self.values.expand(len(observations), -1)
        return out[:, :-1], out[:, -1]


def asynchronous_trainer(store: ArtifactStore) -> tuple[TrainerActor, list[Experience]]:
    """A trainer of two rollout actors, and a batch of each."""
    given = task("dqn", "tic_tac_toe", warm_up=1, capacity=600)
    given = replace(given, rollout_actors=2, tables=4, topology=Topology.ASYNCHRONOUS)
    trainer = TrainerActor(crew_plan(given), store, 0)
    trainer.set_up()
    weights = trainer.prepare(given, True)
    batches = []
    for rank in range(2):
        actor = RolloutActor(crew_plan(given), store, rank)
        actor.set_up()
        actor.prepare(given)
        batches.append(actor.sample(weights)[0])
    return trainer, batches


@pytest.mark.parametrize("taken", [[[0], [1], [0], [1]], [[0, 1], [0, 1]], [[0], [1, 0, 1]], [[0, 1, 0, 1]]], ids=str)
def test_gradient_steps_follow_the_batches_however_they_arrive(taken: list[list[int]], store: ArtifactStore) -> None:
    trainer, batches = asynchronous_trainer(store)
    assert trainer.remembers()
    for slots in taken:
        trainer.train_arrived(slots, *(batches[slot] for slot in slots))
    # four batches of 8 steps at 4 tables, each decision learnt from 4 times, 32 rows a step
    assert trainer._training.learner.updates == 4 * 8 * 4 * 4 / 32


def test_the_age_of_samples_is_measured_over_all_batches(store: ArtifactStore) -> None:
    trainer, (first, second) = asynchronous_trainer(store)
    trainer.train_arrived([0], first)
    newer = replace(second, acted_by=np.full_like(second.acted_by, trainer._training.learner.updates))
    _, report = trainer.train_arrived([0, 1], first, newer)
    assert report.oldest == 1.0
    wanted = len(first) / (len(first) + len(newer))
    assert report.metrics.values()["sample_age"] == pytest.approx(wanted)


def test_every_table_of_an_apex_crew_explores_at_its_own_rate(store: ArtifactStore) -> None:
    given = replace(
        task("apex", "tic_tac_toe", capacity=600), rollout_actors=2, trainers=1, topology=Topology.SPLIT, tables=4
    )
    plan = crew_plan(given)
    trainer = TrainerActor(plan, store, 0)
    trainer.set_up()
    weights = trainer.prepare(given, True)
    rates, batches = [], []
    for rank in range(2):
        actor = RolloutActor(plan, store, rank)
        actor.set_up()
        actor.prepare(given)
        batches.append(actor.sample(weights)[0])
        rates.append(actor._sampler.explore)
    wanted = 0.4 ** (1 + 7 * np.arange(8) / 7)
    assert np.concatenate(rates) == pytest.approx(wanted)
    for _ in range(2):
        _, report = trainer.train(*batches)
    assert report.metrics.values()["loss"] > 0
    fused = FusedActor(crew_plan(task("apex", "tic_tac_toe")), store, 0)
    fused.set_up()
    fused.prepare(task("apex", "tic_tac_toe"), True)
    fused.advance(1)
    assert np.asarray(fused._sampler.explore) == pytest.approx(wanted)
