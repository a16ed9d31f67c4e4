"""Which topology a crew has, as the trial file's documentation says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.spec.generation import GenerationSpec
from tests.unit.training.generation_task import TASK
from workers.crews.generation import _splits
from workers.crews.task import Topology


@pytest.mark.parametrize(
    ("topology", "trainers", "split"),
    [
        (Topology.AUTO, 1, False),
        (Topology.AUTO, 2, True),
        (Topology.SPLIT, 1, True),
        (Topology.FUSED, 1, False),
    ],
)
def test_auto_is_split_where_there_are_several_trainers(topology: Topology, trainers: int, split: bool) -> None:
    assert _splits(replace(TASK, topology=topology, trainers=trainers, rollout_actors=2)) is split


def test_the_trial_file_says_what_auto_does() -> None:
    assert "auto: split if trainers > 1" in str(GenerationSpec.model_fields["topology"].description)
