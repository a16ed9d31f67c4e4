"""Teams in trial files: what is allowed, and what a game's key is without them."""

import pytest

from api.store.trials.spec import game_key
from orchestrator.spec.entrants import parse_entrant
from orchestrator.spec.reading.loading import parse_trial
from orchestrator.spec.reading.problems import InvalidTrial
from orchestrator.spec.trial import TrialSpec


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


GATED = "game: {{id: {game}}}\nleague: {{preset: self_play, champion_gate: {gate}}}\n"


@pytest.mark.parametrize(
    "game",
    [
        "pettingzoo_parallel, env: e, teams: [0, 1, 2]",
        "pettingzoo_parallel, env: e, teams: {red: 0, blue: 1, green: 2}",
        "openspiel, game: 'leduc_poker(players=3)', teams: each",
        "openspiel, game: 'leduc_poker(players=3)'",
    ],
)
def test_a_gate_of_more_than_two_teams_is_refused_without_a_worker(game: str) -> None:
    with pytest.raises(
        InvalidTrial, match=r"champion_gate: a gate compares two teams, \w+ has 3; say champion_gate: null"
    ):
        parse_trial(GATED.format(game=game, gate="{}"))
    trial = parse_trial(GATED.format(game=game, gate="null"))
    gated = {**trial.spec.to_json(), "league": {"preset": "self_play"}}
    assert TrialSpec.model_validate(gated).league.champion_gate, "a trial that began before goes on"


@pytest.mark.parametrize(
    "game",
    [
        "pettingzoo_parallel, env: e, teams: [0, 1, 0, 1]",
        "pettingzoo_parallel, env: e, teams: one",
        "openspiel, game: 'kuhn_poker(players=2)'",
        "openspiel, game: 'bridge', teams: [0, 1, 0, 1]",
        "openspiel, game: 'hex'",
    ],
)
def test_other_gates_are_allowed_or_left_to_a_worker(game: str) -> None:
    assert parse_trial(GATED.format(game=game, gate="{}")).league.champion_gate


def test_a_mixed_line_up_is_refused_as_an_entrant_by_name() -> None:
    with pytest.raises(ValueError, match="a line-up of several players cannot enter; an entrant is one version"):
        parse_entrant("main+striker")


@pytest.mark.parametrize("wrong", ["pairs", "[0, -1]", "[a, b]", "{red: blue}", "2"])
def test_other_teams_are_refused(wrong: str) -> None:
    with pytest.raises(InvalidTrial, match=r"game.teams = .*: must be each, one, a list of"):
        parse(f"teams: {wrong}")
