"""Learning in bfloat16, and sampling and learning on devices apart, all on the CPU: there is no GPU to test on."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask, ProcessResources
from orchestrator.spec.algorithms.choice import BUILT_IN_ALGORITHMS
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.training.generation_task import TASK
from workers.crews.actors import FusedActor
from workers.crews.errors import BadTask
from workers.crews.plan import crew_plan

MODELS = {
    "perceptron": Component(id="mlp", options={"hidden": [16]}),
    "recurrent": Component(id="gru", options={"hidden": 8, "state": 8}),
    "normalised": Component(id="mlp", options={"hidden": [16], "normalise": True}),
}


def trained(task: GenerationTask, folder: Path) -> dict[str, torch.Tensor]:
    """The weights after three updates, trained in this process."""
    actor = FusedActor(crew_plan(task).on_cluster(0.0), ArtifactStore(str(folder)), 0)
    actor.set_up()
    actor.prepare(task, True)
    actor.advance(3)
    return actor._training.learner.weights()


def on(model: Component, **resources: Any) -> GenerationTask:
    return replace(TASK, model=model, resources=ProcessResources(**resources))


@pytest.fixture(autouse=True)
def same_threads() -> Any:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_bfloat16_learns_nearly_the_same(model: Component, tmp_path: Path) -> None:
    plain, cast = trained(on(model), tmp_path), trained(on(model, autocast="bf16"), tmp_path)
    assert all(tensor.dtype == torch.float32 for tensor in cast.values()), "weights and checkpoints stay float32"
    assert any(not torch.equal(plain[name], cast[name]) for name in plain)
    for name, tensor in cast.items():
        torch.testing.assert_close(tensor, plain[name], atol=0.05, rtol=0.1)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_copy_for_another_device_follows_every_update(model: Component, tmp_path: Path) -> None:
    """cpu:0 is the CPU by another name: the copies are made and renewed as for a GPU."""
    together = trained(on(model), tmp_path)
    apart = trained(on(model, device="cpu", sampling_device="cpu:0"), tmp_path)
    assert all(torch.equal(together[name], apart[name]) for name in together)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("resources", [{"device": "cuda"}, {"sampling_device": "cuda"}])
def test_cuda_without_a_gpu_is_refused_in_words(resources: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(BadTask, match=r"device cuda: torch .* sees no GPU"):
        trained(on(MODELS["perceptron"], **resources), tmp_path)


NOT_PRETENDED = {"es", "atoc", "r2d2"}
"""Their updates need real numbers, indices from lists, or the fused GRU, which the pretended device has not."""


def test_no_update_mixes_devices() -> None:
    """Updates with the networks on a device that is not the CPU, under FakeTensorMode: see pretended_device.py."""
    names = ["mixed", *(name for name in BUILT_IN_ALGORITHMS if name not in NOT_PRETENDED)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.training.pretended_device", *names],
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        check=False,
    )
    found = dict(line.split(": ", 1) for line in done.stdout.splitlines() if line.split(":")[0] in names)
    assert found.pop("mixed", "").startswith("FakeTensorDeviceMismatchError"), done.stderr
    assert found == dict.fromkeys(names[1:], "ok"), done.stderr
