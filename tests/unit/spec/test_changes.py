"""Changes are laid over what a trial file gives, and what belongs to another id or preset is not kept."""

from pathlib import Path
from typing import Any

import pytest

from lanista.training.source import read_source
from orchestrator.spec import TrialSpec
from orchestrator.spec.reading.changes import given_json, merge_changes
from orchestrator.spec.reading.checking import check_spec
from orchestrator.spec.reading.loading import load_trial_file

EXAMPLES = Path(__file__).parents[3] / "examples"
FILE = {"game": {"id": "tic_tac_toe"}, "algorithm": {"clip": 0.1, "rollout_steps": 8}, "seed": 3}


def changed(file: dict[str, Any], changes: dict[str, Any]) -> TrialSpec:
    return read_source(file, changes).spec


def test_another_algorithm_has_its_own_options() -> None:
    for file in (FILE, check_spec(FILE)):
        spec = read_source(file, {"algorithm": {"id": "a2c", "entropy": 0.5}}).spec
        assert spec == check_spec(FILE | {"algorithm": {"id": "a2c", "entropy": 0.5}})


def test_the_same_algorithm_keeps_its_options() -> None:
    spec = changed(FILE, {"algorithm": {"id": "ppo", "rollout_steps": 16}})
    assert spec == check_spec(FILE | {"algorithm": {"clip": 0.1, "rollout_steps": 16}})


@pytest.mark.parametrize("preset", ["psro", "alphastar", "pfsp"])
def test_another_preset_has_its_own_defaults(preset: str) -> None:
    assert changed(FILE, {"league": {"preset": preset}}) == check_spec(FILE | {"league": {"preset": preset}})
    given = {"preset": "fictitious", "matchmaking": {"pool": "own"}, "snapshot": {"min_steps": 10}}
    expected = {"preset": preset, "snapshot": {"min_steps": 10}}
    spec = changed(FILE | {"league": given}, {"league": {"preset": preset}})
    assert spec == check_spec(FILE | {"league": expected})


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.name)
def test_what_a_file_gives_is_the_whole_trial(path: Path) -> None:
    spec = load_trial_file(path).spec
    assert check_spec(given_json(spec)) == spec


def test_a_list_replaces_the_list_before() -> None:
    assert merge_changes({"a": [1, 2], "b": {"c": 1}}, {"a": [3], "b": {"d": 2}}) == {"a": [3], "b": {"c": 1, "d": 2}}
