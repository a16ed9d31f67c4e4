"""A trial file becomes one typed tree: what the file says, and defaults for the rest."""

from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from league.types import Role
from orchestrator.catalog import Component
from orchestrator.spec import TrialFile, TrialSpec
from orchestrator.spec.reading.loading import load_trial_file, parse_trial

FULL = """
project: connect-four
trial: first-league
seed: 7
game: {id: connect_four}
model: {id: mlp, hidden: [64, 64]}
algorithm: {id: ppo, learning_rate: 3.0e-4, gamma: 1.0, gae_lambda: 0.95, clip: 0.2, epochs: 4, entropy: 0.01}
league:
  preset: alphastar
  players:
    - {name: main, role: main}
    - {name: main-exploiter, role: main_exploiter}
    - {name: league-exploiter, role: league_exploiter}
    - {name: random, role: bot, bot: random}
  payoff: {memory_games: 20_000, min_games: 8}
  snapshot: {min_steps: 4_000_000, win_rate: 0.7, max_steps: 8_000_000}
  champion_gate: {test: sprt, elo0: 0, elo1: 35, alpha: 0.05, beta: 0.05, max_pairs: 2000}
generation: {steps: 2_000_000, rollout_actors: 1, tables: 1024}
evaluation: {every_generations: 5, games: 200}
budget: {steps: 100_000_000}        # or wall_clock: 30m, or until: {opponent: mcts-100, win_rate: 0.9}
start: running                    # or paused
"""


def test_every_value_of_a_full_file_arrives() -> None:
    trial = parse_trial(FULL)
    assert (trial.project, trial.trial, trial.seed) == ("connect-four", "first-league", 7)
    assert trial.model.component == Component(
        id="mlp", options={"normalise": False, "hidden": [64, 64], "activation": "relu"}
    )
    assert trial.algorithm.component.options["learning_rate"] == 3e-4
    assert [player.role for player in trial.league.players] == [
        Role.MAIN,
        Role.MAIN_EXPLOITER,
        Role.LEAGUE_EXPLOITER,
        Role.BOT,
    ]
    assert [player.name for player in trial.league.learners] == ["main", "main-exploiter", "league-exploiter"]
    assert trial.league.players[3].bot == "random"
    assert trial.league.payoff.decay == 1 - 1 / 20_000
    assert trial.league.snapshot.max_steps == 8_000_000
    assert trial.league.champion_gate is not None
    assert trial.league.champion_gate.elo1 == 35
    assert trial.budget.steps == 100_000_000
    assert trial.start == "running"


def test_only_the_game_is_needed() -> None:
    trial = parse_trial("game: {id: connect_four}")
    assert trial.model.id == "mlp"
    assert trial.algorithm.id == "ppo"
    assert trial.league.preset == "self_play"
    assert trial.budget.steps == 100_000_000
    assert trial == TrialFile(game={"id": "connect_four"})


@pytest.mark.parametrize(
    ("text", "steps"), [("4_000_000", 4_000_000), ("2e6", 2_000_000), ("1.5e3", 1500), ("12", 12), ("+7", 7)]
)
def test_whole_numbers_may_be_written_as_people_do(text: str, steps: int) -> None:
    read = parse_trial(f"game: {{id: connect_four}}\ngeneration: {{steps: {text}}}").generation.steps
    assert (read, type(read)) == (steps, int)


@pytest.mark.parametrize("text", ["3.0e-4", "3e-4", "0.0003", "3E-4"])
def test_small_numbers_may_be_written_as_people_do(text: str) -> None:
    trial = parse_trial(f"game: {{id: connect_four}}\nalgorithm: {{learning_rate: {text}}}")
    assert trial.algorithm.component.options["learning_rate"] == 3e-4


@pytest.mark.parametrize(
    ("text", "time", "canonical"),
    [
        ("90s", timedelta(seconds=90), "1m30s"),
        ("30m", timedelta(minutes=30), "30m"),
        ("2h", timedelta(hours=2), "2h"),
        ("1h30m", timedelta(minutes=90), "1h30m"),
        ("2d", timedelta(days=2), "2d"),
    ],
)
def test_wall_clock_has_a_unit(text: str, time: timedelta, canonical: str) -> None:
    trial = parse_trial(f"game: {{id: connect_four}}\nbudget: {{wall_clock: {text}, steps: 10}}")
    assert trial.budget.wall_clock == time
    assert trial.to_json()["budget"] == {"steps": 10, "wall_clock": canonical, "until": None}


def test_a_target_may_be_a_bot_or_a_player_of_the_trial() -> None:
    game = "game: {id: connect_four}\n"
    players = "league: {players: [{name: main}, {name: rival, role: bot, bot: mcts-10}]}\n"
    assert parse_trial(game + "budget: {until: {opponent: mcts-100}}").budget.until is not None
    named = parse_trial(game + players + "budget: {until: {opponent: rival, win_rate: 0.6}}").budget.until
    assert named is not None
    assert (named.opponent, named.win_rate) == ("rival", 0.6)


def test_options_of_things_of_ones_own_pass_unchanged() -> None:
    trial = parse_trial(
        "game: {id: 'my.games:Hex', size: 7, rules: {swap: true}}\n"
        "model: {id: 'my.models:Net', layers: [1, 2]}\n"
        "algorithm: {id: 'my.algorithms:Ppg', beta: 0.5}\n"
        "league: {preset: 'my.rules:match', matchmaking: {spread: 3}, players: [{name: a, role: bot, bot: 'my:Bot'},"
        " {name: b}]}\n"
    )
    assert trial.game.component == Component(id="my.games:Hex", options={"size": 7, "rules": {"swap": True}})
    assert trial.model.component.options == {"layers": [1, 2]}
    assert trial.algorithm.component.options == {"beta": 0.5}
    assert trial.league.matchmaking.to_json() == {"spread": 3}


def test_the_stored_form_reads_back_equal() -> None:
    for text in (FULL, "game: {id: 'my.games:Hex', size: 7}\nbudget: {wall_clock: 1h30m}\nleague: {preset: psro}"):
        trial = parse_trial(text)
        stored = trial.spec.to_json()
        assert "project" not in stored
        assert "trial" not in stored
        assert TrialSpec.model_validate(stored) == trial.spec
        assert TrialFile.model_validate(trial.to_json()) == trial


def test_the_tree_cannot_be_changed() -> None:
    trial = parse_trial(FULL)
    with pytest.raises(ValidationError, match="frozen"):
        trial.league.payoff.min_games = 3  # type: ignore[misc]


def test_a_trial_without_a_name_is_called_as_its_file(tmp_path: Path) -> None:
    for file, name in (("My_League.yaml", "my-league"), ("größe.yaml", "trial")):
        path = tmp_path / file
        path.write_text("game: {id: connect_four}")
        assert load_trial_file(path).trial == name


def test_a_stored_trial_whose_plug_in_is_gone_is_still_readable() -> None:
    stored = {"game": {"id": "a-game-of-a-package-since-removed", "size": 3}}
    assert TrialSpec.model_validate(stored).game.component.options == {"size": 3}
