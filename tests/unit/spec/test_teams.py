"""Teams in trial files: what is allowed, and what a game's key is without them."""

import pytest

from api.store.trials.spec import game_key
from orchestrator.spec.loading import parse_trial
from orchestrator.spec.problems import InvalidTrial


def parse(options: str) -> str:
    return game_key(parse_trial(f"game: {{id: pettingzoo_parallel, env: e, {options}}}").spec.game)


def test_without_teams_a_game_keeps_the_key_that_it_had_before() -> None:
    key = 'pettingzoo_parallel {"env":"e","hidden_information":true,"max_steps":1000,"options":{}}'
    assert parse("max_steps: 1000") == key
    assert parse("teams: null") == key


@pytest.mark.parametrize(
    ("written", "kept"),
    [("each", '"each"'), ("one", '"one"'), ("[0, 0, 1, 1]", "[0,0,1,1]"), ("{red: 0, blue: 1}", '{"blue":1,"red":0}')],
)
def test_teams_are_part_of_the_game(written: str, kept: str) -> None:
    assert f'"teams":{kept}' in parse(f"teams: {written}")


@pytest.mark.parametrize("wrong", ["pairs", "[0, -1]", "[a, b]", "{red: blue}", "2"])
def test_other_teams_are_refused(wrong: str) -> None:
    with pytest.raises(InvalidTrial, match=r"game.teams = .*: must be each, one, a list of"):
        parse(f"teams: {wrong}")
