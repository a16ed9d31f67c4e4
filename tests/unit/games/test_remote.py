"""Games that call in are declared by their spec, and checked before a trial starts."""

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from orchestrator.spec.code_names import code_in_trial
from orchestrator.spec.reading.checking import check_spec
from orchestrator.spec.reading.problems import InvalidTrial
from workers.games.errors import BadGame
from workers.games.names import make_game

SPEC: dict[str, Any] = {"observation": {"type": "box", "shape": [3, 3]}, "action": {"type": "discrete", "n": 9}}
GAME: dict[str, Any] = {"id": "remote", "agent": "my_game:Agent", "spec": SPEC}


def made(**spec: Any) -> Any:
    component = check_spec({"game": {**GAME, "spec": {**SPEC, **spec}}}).game.component
    return make_game(component.id, 3, **component.options)


def problems(game: dict[str, Any]) -> str:
    with pytest.raises(InvalidTrial) as raised:
        check_spec({"game": game})
    return str(raised.value)


def test_a_declared_game_has_its_seats_teams_and_spaces() -> None:
    parts = {
        "map": {"type": "box", "shape": [4, 4], "low": 0, "high": 255, "dtype": "uint8"},
        "to_move": SPEC["action"],
    }
    spec = made(
        observation={"type": "dict", "spaces": parts},
        action={"type": "multi_discrete", "n": [3, 2]},
        seats=4,
        teams=[0, 0, 1, 1],
        max_steps=50,
        simultaneous=True,
    ).spec
    assert (spec.seats, spec.team_count, spec.max_steps, spec.simultaneous) == (4, 2, 50, True)
    assert spec.action == spaces.MultiDiscrete([3, 2])
    assert spec.observation_parts["map"].dtype == np.uint8
    assert spec.observation["map"].high.max() == 255


def test_bounds_of_a_box_may_differ_or_be_left_out() -> None:
    box = made(observation={"type": "box", "shape": [2], "low": [0, -1], "high": None}).spec.observation
    assert box.low.tolist() == [0, -1]
    assert np.isinf(box.high).all()
    whole = made(observation={"type": "box", "shape": [2], "dtype": "int16"}).spec.observation
    assert (whole.low.min(), whole.high.max()) == (-32768, 32767)


def test_a_game_that_calls_in_cannot_be_stepped_here() -> None:
    game = made()
    game.reset(np.zeros(3, np.uint64))
    with pytest.raises(BadGame, match="process of its own"):
        game.turn()


def test_a_wrong_declaration_says_what_is_allowed() -> None:
    assert "game.spec: is missing" in problems({"id": "remote"})
    assert "unknown agent 'agent.py'" in problems({**GAME, "agent": "agent.py"})
    assert "no field option; allowed: id, options" in problems({**GAME, "agent": {"id": "a:B", "option": {}}})
    assert "or an import path" in problems({**GAME, "agent": {"left": "a:B", "right": ["a:C", 3]}})
    assert "did you mean 'box'?" in problems({**GAME, "spec": {**SPEC, "observation": {"type": "bx"}}})
    assert "game.spec.action.n: is missing" in problems({**GAME, "spec": {**SPEC, "action": {"type": "discrete"}}})
    assert "without a gap" in problems({**GAME, "spec": {**SPEC, "teams": [0, 2]}})
    assert "names 3 seats, there are 2" in problems({**GAME, "spec": {**SPEC, "teams": [0, 1, 1]}})
    bounds = {"type": "box", "shape": [2], "low": [1, 2, 3]}
    assert "lists of numbers of shape [2]" in problems({**GAME, "spec": {**SPEC, "observation": bounds}})
    low = {"type": "box", "shape": [2], "low": 3, "high": 2}
    assert "must not be above high" in problems({**GAME, "spec": {**SPEC, "observation": low}})
    assert "every choice" in problems({**GAME, "spec": {**SPEC, "action_names": ["a"]}})


def test_its_agent_is_code_of_the_sender() -> None:
    assert [each.field for each in code_in_trial(check_spec({"game": GAME}))] == ["game.agent"]


def test_a_gate_needs_two_teams() -> None:
    gate = {"league": {"champion_gate": {}}, "game": {**GAME, "spec": {**SPEC, "seats": 3}}}
    with pytest.raises(InvalidTrial, match="champion_gate"):
        check_spec(gate)
