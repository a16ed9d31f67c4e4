"""Populations in a trial file: what they make, what is refused, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.populations import first_hyperparameters
from orchestrator.spec import InvalidTrial, TrialSpec
from orchestrator.spec.reading.checking import check_spec

RATE = {"learning_rate": {"perturb": [0.8, 1.25]}}


def trial(population: dict[str, Any], **more: Any) -> dict[str, Any]:
    given = {"size": 3, "explore": RATE} | population
    players = [{"name": "main", "population": {name: value for name, value in given.items() if value is not None}}]
    league = {"preset": "pfsp", "players": players} | more.pop("league", {})
    return {"game": {"id": "connect_four"}, "league": league} | more


def refusal(file: dict[str, Any]) -> str:
    with pytest.raises(InvalidTrial) as refused:
        check_spec(file)
    return str(refused.value)


def test_a_population_is_as_many_members_as_its_size() -> None:
    spec = check_spec(trial({}))
    assert [player.name for player in spec.league.players] == ["main"]
    assert [player.name for player in spec.league.members] == ["main.1", "main.2", "main.3"]
    assert [player.name for player in spec.league.learners] == ["main.1", "main.2", "main.3"]
    assert TrialSpec.model_validate(spec.to_json()) == spec


@pytest.mark.parametrize(
    ("population", "words"),
    [
        ({"size": 1}, "must be greater than or equal to 2"),
        ({"size": 65}, "must be less than or equal to 64"),
        ({"size": None}, "is missing"),
        ({"explore": {}}, "must name 1 to 20 options of the algorithm, not 0"),
        ({"explore": {"lerning_rate": {"perturb": [2.0]}}}, "did you mean 'learning_rate'?"),
        ({"explore": {"id": {"perturb": [2.0]}}}, "ppo has no such option"),
        ({"explore": {"learning_rate": {}}}, "needs perturb"),
        ({"explore": {"learning_rate": {"perturb": [0.0]}}}, "must be greater than 0"),
        ({"explore": {"learning_rate": {"resample": [0.1, 0.01]}}}, "low below high"),
        ({"explore": {"learning_rate": {"resample": [0.1]}}}, "at least 2 items"),
        ({"explore": {"learning_rate": {"resample": [0.1, 2.0]}}}, "resample: 2 is not allowed"),
        (
            {"explore": {"minibatch": {"initial": [64.5, 128], "perturb": [2.0]}}},
            "minibatch is a whole number, 64.5 is not",
        ),
        ({"exploit": {"quantile": 0.6}}, "must be less than or equal to 0.5"),
        ({"exploit": {"level": 0.5}}, "must be less than 0.5"),
        ({"exploit": {"by": "elo"}}, "must be one of rating, return, win_rate"),
        ({"exploit": {"method": "roulette"}}, "must be one of truncation, binary_tournament"),
        ({"every_generations": 0}, "must be greater than or equal to 1"),
    ],
)
def test_wrong_populations_are_refused_in_words(population: dict[str, Any], words: str) -> None:
    assert words in refusal(trial(population))


def test_scores_must_suit_the_game_and_the_league() -> None:
    by_return = {"exploit": {"by": "return"}}
    one_team = {"id": "pettingzoo_parallel", "env": "mpe/simple_spread_v3", "teams": "one"}
    two_teams = {"id": "pettingzoo_aec", "env": "classic/tictactoe_v3", "teams": {"player_1": 0, "player_2": 1}}
    assert check_spec(trial(by_return, game=one_team))
    assert "only games of one team have returns" in refusal(trial(by_return, game=two_teams))
    assert "so there is no rating; say return" in refusal(trial({}, game=one_team))
    by_wins = {"exploit": {"by": "win_rate"}}
    assert "members meet only themselves" in refusal(trial(by_wins, league={"preset": "self_play"}))
    exploiter = {"name": "exploiter", "role": "main_exploiter", "population": {"size": 2, "explore": RATE}}
    league = {"preset": "alphastar", "players": [{"name": "main"}, exploiter]}
    assert "only mains play rating games" in refusal(trial({}, league=league))


def test_players_that_do_not_learn_have_no_population() -> None:
    bot = {"name": "random", "role": "bot", "bot": "random", "population": {"size": 2, "explore": RATE}}
    assert "does not learn" in refusal(trial({}, league={"players": [{"name": "main"}, bot]}))


def test_a_population_is_no_player_to_be_beaten() -> None:
    until = {"until": {"opponent": "main", "win_rate": 0.9}}
    assert "unknown bot 'main'" in refusal(trial({}, budget=until))


def test_options_of_an_own_algorithm_need_a_number_to_start_from() -> None:
    own = {"id": "tests.unit.training.own_algorithms:Reinforce"}
    assert "say a number for beta" in refusal(trial({"explore": {"beta": {"perturb": [2.0]}}}, algorithm=own))
    assert check_spec(trial({"explore": {"beta": {"resample": [0.1, 1.0]}}}, algorithm=own))
    assert check_spec(trial({"explore": {"beta": {"perturb": [2.0]}}}, algorithm={**own, "beta": 0.5}))


def test_first_values_depend_on_the_seed_alone_and_are_within_the_option() -> None:
    explore = {"learning_rate": {"initial": [1e-5, 1e-2], "perturb": [0.8]}, "minibatch": {"resample": [64, 1024]}}
    first = first_hyperparameters(check_spec(trial({"explore": explore}, seed=3)))
    assert first == first_hyperparameters(check_spec(trial({"explore": explore}, seed=3)))
    assert first != first_hyperparameters(check_spec(trial({"explore": explore}, seed=4)))
    assert list(first) == ["main.1", "main.2", "main.3"]
    assert all(isinstance(own["minibatch"], int) for own in first.values())
    assert len({own["learning_rate"] for own in first.values()}) == 3
