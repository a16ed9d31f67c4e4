"""Checkpoints of format 1 learnt from bytes of images as 0 to 255, and keep seeing them so; newer ones see 0 to 1."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium import spaces

from league.types import CheckpointRef
from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from workers.checkpoints import Checkpoint, decode, encode, load, read_weights, save
from workers.crews.actors import FusedActor, RolloutActor, TrainerActor
from workers.crews.plan import crew_plan
from workers.crews.task import GenerationTask
from workers.games.protocol import GameSpec
from workers.inference.grouped import architecture
from workers.inference.policy import Policy
from workers.models.contract import build_model, sees_raw_images
from workers.models.mlp import Mlp

MODEL = Component(id="mlp", options={"hidden": [8]})
PICTURES = GameSpec(id="pictures", seats=1, max_steps=5, observation=spaces.Box(0, 255, (4, 4), np.uint8), actions=3)
NUMBERS = GameSpec(id="numbers", seats=1, max_steps=5, observation_shape=(4, 4), actions=3)
ROBOT = Component(
    id="gymnasium",
    options={"env": "tests.unit.games.environments:Robot", "options": {"actions": "discrete"}, "max_steps": 4},
)
TASK = GenerationTask(
    game=ROBOT,
    model=MODEL,
    algorithm=Component(id="ppo", options={"rollout_steps": 4, "minibatch": 8}),
    steps=64,
    seed=3,
    tables=4,
    player="main",
)


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path))


def checkpoint(spec: GameSpec = PICTURES, raw: bool = False) -> Checkpoint:
    weights = build_model(MODEL, spec, 1).state_dict()
    return Checkpoint(model=MODEL, game=Component(id=spec.id), weights=weights, raw_images=raw)


def test_format_1_is_read_as_raw_and_the_mark_is_stored_only_where_it_is_needed() -> None:
    recorded = (Path(__file__).parent / "recorded" / "format-1.safetensors").read_bytes()
    assert decode(recorded).raw_images and read_weights(recorded)[1]
    assert decode(encode(checkpoint(raw=True))).raw_images
    assert not decode(encode(checkpoint())).raw_images and b"raw_images" not in encode(checkpoint())


@pytest.mark.parametrize(("raw", "scale"), [(True, 1.0), (False, 255.0)])
def test_a_policy_sees_images_as_its_checkpoint_learnt_them(raw: bool, scale: float) -> None:
    made = checkpoint(raw=raw)
    plain = Mlp(observation_shape=(4, 4), actions=3, hidden=[8])
    plain.load_state_dict(dict(made.weights))
    pictures = np.random.default_rng(0).integers(0, 256, (5, 4, 4), dtype=np.uint8)
    logits, values = plain(torch.from_numpy(pictures) / scale, None)
    decided = Policy.from_checkpoint(made, PICTURES).decide(pictures, None, None)
    np.testing.assert_allclose(decided.values, values.detach().numpy(), rtol=1e-5)
    assert decided.actions.tolist() == logits.argmax(1).tolist()


def test_only_policies_that_see_images_alike_run_as_a_group() -> None:
    kinds = [architecture(Policy.from_checkpoint(checkpoint(PICTURES, raw), PICTURES)) for raw in (True, False)]
    assert kinds[0] != kinds[1]
    kinds = [architecture(Policy.from_checkpoint(checkpoint(NUMBERS, raw), NUMBERS)) for raw in (True, False)]
    assert kinds[0] == kinds[1], "without images nothing differs"


def generation(actor: FusedActor, task: GenerationTask) -> CheckpointRef:
    actor.prepare(task, True)
    report = actor.advance(4)
    return actor.save(report.steps, [actor.store_buffer()])


def test_a_player_goes_on_with_the_scale_that_it_began_with_beside_others(store: ArtifactStore) -> None:
    """One warm process trains an old player and a new one in turn, each as a process of its own would."""
    warm = FusedActor(crew_plan(TASK), store, 0)
    warm.set_up()
    new = generation(warm, TASK)
    assert not load(store, new).raw_images
    old = save(store, replace(load(store, new), raw_images=True))
    goes_on = [generation(warm, replace(TASK, seed=4, checkpoint=ref)) for ref in (old, new, old)]
    assert goes_on[0] == goes_on[2] != goes_on[1]
    assert [load(store, ref).raw_images for ref in goes_on] == [True, False, True]
    for ref, expected in ((old, goes_on[0]), (new, goes_on[1])):
        cold = FusedActor(crew_plan(TASK), store, 0)
        cold.set_up()
        assert generation(cold, replace(TASK, seed=4, checkpoint=ref)) == expected


def test_rollout_actors_of_a_split_crew_see_images_as_the_trainer_does(store: ArtifactStore) -> None:
    rollout, trainer = (kind(crew_plan(TASK), store, 0) for kind in (RolloutActor, TrainerActor))
    for actor in (rollout, trainer):
        actor.set_up()
    new = trainer.save(0, [trainer.store_buffer()]) if trainer.prepare(TASK, True) else None
    assert new is not None
    old = save(store, replace(load(store, new), raw_images=True))
    values = []
    for ref in (old, new):
        task = replace(TASK, checkpoint=ref)
        weights = trainer.prepare(task, True)
        rollout.prepare(task)
        batch, _ = rollout.sample(weights)
        assert sees_raw_images(rollout._nets["policy"]) == (ref == old)
        values.append(batch.values[:4].copy())
    assert np.abs(values[0] - values[1]).max() > 1e-3
