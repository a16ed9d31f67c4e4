"""Every example is a valid trial, by this code and by the exported JSON Schema, and every preset has one."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from orchestrator.spec import trial_json_schema
from orchestrator.spec.matchmaking import Preset
from orchestrator.spec.reading.loading import load_trial_file, parse_trial

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(trial_json_schema())
    return jsonschema.Draft202012Validator(trial_json_schema())


@pytest.mark.parametrize("preset", list(Preset))
def test_every_preset_has_an_example_that_is_valid(preset: Preset, schema: jsonschema.Draft202012Validator) -> None:
    path = EXAMPLES / f"{preset}.yaml"
    trial = load_trial_file(path)
    assert trial.league.preset == preset
    assert trial.league.learners
    schema.validate(yaml.safe_load(path.read_text()))
    schema.validate(trial.to_json())


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.name)
def test_an_example_begins_with_words_for_a_person(path: Path) -> None:
    load_trial_file(path)
    assert path.read_text().startswith("# ")


@pytest.mark.parametrize(
    ("section", "wrong"),
    [
        ("start", "now"),
        ("strat", "paused"),
        ("league", {"players": [{"name": "B"}]}),
        ("algorithm", {"id": "ppo", "clip": -1}),
        ("budget", {"wall_clock": 30}),
        ("generation", {"steps": "many"}),
    ],
)
def test_the_schema_refuses_what_the_code_refuses(
    section: str, wrong: Any, schema: jsonschema.Draft202012Validator
) -> None:
    data = {"game": {"id": "connect_four"}, section: wrong}
    assert not schema.is_valid(data)
    assert not _is_valid(data)


def _is_valid(data: dict[str, Any]) -> bool:
    try:
        parse_trial(yaml.safe_dump(data))
    except ValueError:
        return False
    return True


def test_every_option_of_the_schema_is_explained() -> None:
    definitions = trial_json_schema()["$defs"].values()
    explained = [
        (definition["title"], name, "description" in option)
        for definition in definitions
        for name, option in definition.get("properties", {}).items()
    ]
    assert len(explained) > 60
    assert [entry for entry in explained if not entry[2]] == []
