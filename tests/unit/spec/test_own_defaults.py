"""What a trial file leaves out, or writes out: psro's champion, aliases, default options, numbers as text."""

from __future__ import annotations

import pytest

from orchestrator.spec import InvalidTrial, TrialSpec
from orchestrator.spec.budget import BudgetSpec
from orchestrator.spec.reading.checking import check_spec
from orchestrator.spec.trial import without_defaults

GAME = {"id": "tic_tac_toe"}


def test_psro_has_no_champion_unless_the_file_asks_for_one() -> None:
    assert check_spec({"game": GAME, "league": {"preset": "psro"}}).league.champion_gate is None
    asked = check_spec({"game": GAME, "league": {"preset": "psro", "champion_gate": {}}}).league
    assert asked.champion_gate is not None and asked.champion_gate.alias == "champion"
    again = TrialSpec.model_validate(check_spec({"game": GAME, "league": {"preset": "psro"}}).to_json())
    assert again.league.champion_gate is None
    assert check_spec({"game": GAME}).league.champion_gate is not None


def test_options_at_their_default_are_no_other_game() -> None:
    spec = check_spec({"game": {"id": "my_game:Nim", "most": 21, "least": 1}})
    assert without_defaults(spec, ["most"]).game.to_json() == {"id": "my_game:Nim", "least": 1}
    assert without_defaults(spec, []) == spec
    built_in = check_spec({"game": GAME})
    assert without_defaults(built_in, ["id"]) == built_in


@pytest.mark.parametrize("value", ["3e-3", "0.003"])
def test_a_number_that_is_text_is_told_as_such(value: str) -> None:
    with pytest.raises(InvalidTrial) as refused:
        check_spec({"game": GAME, "algorithm": {"id": "ppo", "learning_rate": value}})
    assert f"learning_rate = {value!r}: must be a number, and this is text (PyYAML reads 3e-3" in str(refused.value)


def test_words_are_not_called_numbers() -> None:
    with pytest.raises(InvalidTrial) as refused:
        check_spec({"game": GAME, "algorithm": {"id": "ppo", "learning_rate": "fast"}})
    assert str(refused.value).endswith("must be a number")


def test_the_last_generations_of_a_budget_are_shorter() -> None:
    budget = BudgetSpec(steps=2_500)
    assert [budget.next_generation(1_000, used=used) for used in (0, 1_000, 2_000, 2_500)] == [1_000, 1_000, 500, 0]
    assert budget.next_generation(1_000, used=1_000, under_way=1_000) == 500
    assert BudgetSpec(wall_clock="1h").next_generation(1_000, used=10**9) == 1_000
