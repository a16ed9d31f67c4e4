"""A preset brings its players and options, and refuses roles it has no rule for."""

import pytest

from league.types import Role
from orchestrator.spec import InvalidTrial, TrialSpec
from orchestrator.spec.matchmaking import Preset
from orchestrator.spec.reading.checking import check_spec


def league_of(**league: object) -> dict[str, object]:
    return {"game": {"id": "connect_four"}, "league": league}


def test_the_preset_fixed_needs_opponents() -> None:
    for players in ({}, {"players": [{"name": "main"}]}):
        with pytest.raises(InvalidTrial, match="needs opponents that do not learn"):
            check_spec(league_of(preset="fixed", **players))


@pytest.mark.parametrize("preset", [preset for preset in Preset if preset is not Preset.FIXED])
def test_every_preset_fills_in_its_players(preset: Preset) -> None:
    roles = [player.role for player in check_spec(league_of(preset=preset.value)).league.players]
    exploiters = [Role.MAIN_EXPLOITER, Role.LEAGUE_EXPLOITER] if preset is Preset.ALPHASTAR else []
    assert roles == [Role.MAIN, *exploiters]


@pytest.mark.parametrize("preset", [preset for preset in Preset if preset is not Preset.ALPHASTAR])
def test_only_alphastar_has_exploiters(preset: Preset) -> None:
    frozen = [{"name": "random", "role": "bot", "bot": "random"}] if preset is Preset.FIXED else []
    players = [{"name": "main"}, {"name": "rival", "role": "main_exploiter"}, *frozen]
    with pytest.raises(InvalidTrial) as refused:
        check_spec(league_of(preset=preset.value, players=players))
    (problem,) = refused.value.problems
    assert problem.path == "league.players[1].role"
    assert f"the preset {preset} has no rule for this role" in problem.message
    assert check_spec(league_of(preset="alphastar", players=players)).league.learners[1].role is Role.MAIN_EXPLOITER


def test_a_matchmaker_of_ones_own_may_have_any_role() -> None:
    players = [{"name": "main"}, {"name": "rival", "role": "main_exploiter"}]
    assert len(check_spec(league_of(preset="my.rules:match", players=players)).league.learners) == 2


@pytest.mark.parametrize(
    ("players", "path", "words"),
    [
        ([{"name": "a", "role": "league_exploiter"}], "league.players[0].role", "needs a main to exploit"),
        ([{"name": "a", "role": "bot", "bot": "random"}], "league.players", "no player learns"),
        ([{"name": "a"}, {"name": "b", "role": "bot"}], "league.players[1].bot", "needs the name of its bot"),
        ([{"name": "a", "bot": "random"}], "league.players[0].bot", "only a player of the role bot"),
        ([{"name": "a"}, {"name": "b", "role": "historical"}], "league.players[1].weights", "needs weights"),
        (
            [{"name": "a"}, {"name": "b", "role": "bot", "bot": "random", "weights": "x"}],
            "league.players[1].weights",
            "a bot has no weights",
        ),
        (
            [{"name": "a"}, {"name": "b", "role": "historical", "weights": "./old.safetensors"}],
            "league.players[1].weights",
            "lanista model import",
        ),
        ([{"name": "a", "weights": "./old.safetensors"}], "league.players[0].weights", "POST /versions"),
        ([{"name": "a"}, {"name": "b"}, {"name": "a"}], "league.players[2].name", "taken by players[0]"),
    ],
)
def test_roles_need_what_they_need(players: list[object], path: str, words: str) -> None:
    with pytest.raises(InvalidTrial) as refused:
        check_spec(league_of(preset="alphastar", players=players))
    (problem,) = refused.value.problems
    assert problem.path == path
    assert words in problem.message


def test_weights_by_id_are_taken_and_a_record_with_a_file_stays_readable() -> None:
    veteran = {"name": "b", "role": "historical", "weights": "0190a5b0-7c3e-7000-8000-000000000001"}
    assert check_spec(league_of(players=[{"name": "a"}, veteran])).league.players[1].weights == veteran["weights"]
    kept = league_of(players=[{"name": "a"}, {**veteran, "weights": "./old.safetensors"}])
    assert TrialSpec.model_validate(kept).league.players[1].weights == "./old.safetensors"


def test_a_target_is_measured_by_no_more_games_than_one_batch_has() -> None:
    target = {"until": {"opponent": "random", "win_rate": 0.9}}
    file = {"game": {"id": "connect_four"}, "evaluation": {"games": 20_002}}
    with pytest.raises(InvalidTrial) as refused:
        check_spec(file | {"budget": target})
    (problem,) = refused.value.problems
    assert problem.path == "budget" and "evaluation.games: at most 20000, not 20002" in problem.message
    assert check_spec(file).evaluation.games == 20_002, "without a target many pairings share them"
    assert check_spec(file | {"budget": target, "evaluation": {"games": 20_000}})
    assert TrialSpec.model_validate(file | {"budget": target}).evaluation.games_against_target == 20_000


def test_a_role_that_is_misspelt_is_one_problem_and_not_two() -> None:
    with pytest.raises(InvalidTrial) as refused:
        check_spec(league_of(players=[{"name": "a", "role": "mian"}]))
    (problem,) = refused.value.problems
    assert "did you mean 'main'?" in problem.message


@pytest.mark.parametrize(
    ("preset", "reset", "chance"),
    [
        ("psro", None, 1.0),
        ("psro", {}, 1.0),
        ("psro", {"league_exploiter": 0.5}, 1.0),
        ("psro", {"main": 0.25}, 0.25),
        ("pfsp", None, 0.0),
        ("pfsp", {"main": 1.0}, 1.0),
    ],
)
def test_responses_of_psro_start_anew_unless_told_otherwise(preset: str, reset: object, chance: float) -> None:
    given = {} if reset is None else {"reset": reset}
    spec = check_spec(league_of(preset=preset, **given))
    assert spec.league.reset.main == chance
    assert check_spec(spec.to_json()).league.reset == spec.league.reset, "what is stored is read back the same"


def test_a_wrong_reset_of_psro_is_still_said_to_be_wrong() -> None:
    with pytest.raises(InvalidTrial, match=r"league\.reset\.mian: no such option"):
        check_spec(league_of(preset="psro", reset={"mian": 1.0}))
    with pytest.raises(InvalidTrial, match=r"league\.reset"):
        check_spec(league_of(preset="psro", reset=3))


def test_matchmaking_takes_the_presets_options_and_no_others() -> None:
    spec = check_spec(league_of(preset="pfsp", matchmaking={"weighting": "variance"}))
    assert spec.league.matchmaking.to_json()["weighting"] == "variance"
    with pytest.raises(InvalidTrial, match=r"league\.matchmaking\.weighting: no such option\. Allowed: nothing"):
        check_spec(league_of(preset="self_play", matchmaking={"weighting": "variance"}))
