"""`lanista.train`: one trial in this process, from its file to curves, frames and checkpoints."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from hashlib import sha256
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import pytest
import yaml

import lanista
from lanista.client.code_packing import code_folders
from lanista.training import curves, evaluation
from lanista.training.generation import GenerationProgress
from lanista.training.run import Run
from lanista.training.source import read_source
from league.types import Role
from orchestrator.spec import InvalidTrial
from tests.unit.one_process.trial_files import SMALL, league
from workers.checkpoints import decode
from workers.matches.play import play_match
from workers.matches.result import MatchResult
from workers.matches.task import MatchTask

MAIN = {"name": "main", "role": "main"}
RANDOM = {"name": "random", "role": "bot", "bot": "random"}
EXPLOITER = {"name": "exploiter", "role": "main_exploiter"}


@pytest.fixture(scope="module")
def small() -> Run:
    return lanista.train(SMALL).finish()


def test_a_run_ends_with_its_budget_and_is_evaluated(small: Run) -> None:
    assert [(each.player, each.number) for each in small.generations] == [("main", number) for number in range(4)]
    assert small.end == "the budget of 6,000 steps is used up"
    (result,) = small.evaluation
    assert (result.player, result.opponent, result.games) == ("main", "random", 40)
    assert result.win_rate is not None and result.low is not None and result.high is not None
    assert 0.0 <= result.low <= result.win_rate <= result.high <= 1.0


def test_the_same_file_gives_the_same_checkpoints_and_curve(small: Run) -> None:
    again = lanista.train(SMALL).finish()
    assert [each.checkpoint.sha256 for each in again.generations] == [
        each.checkpoint.sha256 for each in small.generations
    ]
    assert [each.score for each in again.generations] == [each.score for each in small.generations]
    other = next(iter(lanista.train(SMALL, changes={"seed": 1}, games=0)))
    assert other.checkpoint.sha256 != small.generations[1].checkpoint.sha256


def test_games_of_the_curve_change_nothing_in_training(small: Run) -> None:
    without = lanista.train(SMALL, games=0).finish()
    assert [each.number for each in without.generations] == [1, 2, 3]
    assert [each.checkpoint for each in without.generations][-1].sha256 == small.generations[-1].checkpoint.sha256


def test_it_learns_to_beat_random_play() -> None:
    run = lanista.train(SMALL, steps=40_000, games=200, changes={"generation": {"steps": 20_000}}).finish()
    first, last = run.generations[0].score, run.generations[-1].score
    assert first is not None and last is not None and last > first + 0.1


def test_limits_end_it(small: Run) -> None:
    assert lanista.train(SMALL, generations=1, games=0).finish().end == "1 generations are trained"
    brief = lanista.train(SMALL, minutes=0.0, games=0).finish()
    assert brief.end == "the time is up" and len(brief.generations) == 1, "the first generation is finished"
    until = SMALL | {"budget": {"until": {"opponent": "random", "win_rate": 0.01}}}
    until["evaluation"] = {"games": 20, "every_generations": 2}
    reached = lanista.train(until, games=0).finish()
    assert reached.end.endswith("against random") and reached.generations[-1].number == 2


def test_iterating_can_be_broken_off_and_resumed(small: Run) -> None:
    run = lanista.train(SMALL, games=0)
    for generation in run:
        assert generation.number == 1
        break
    assert len(run.generations) == 1 and not run.end
    run.finish()
    assert run.generations[-1].checkpoint.sha256 == small.generations[-1].checkpoint.sha256


def test_players_train_in_turn_with_snapshots_and_resets() -> None:
    file = league("alphastar", MAIN, EXPLOITER, RANDOM)
    run = lanista.train(file, generations=6, games=20).finish()
    trained = [each for each in run.generations if each.number]
    assert [each.player for each in trained] == ["main", "exploiter"] * 3
    assert [each.snapshot for each in trained] == [None, None, "main-1", "exploiter-1", None, None]
    assert [each.reset for each in trained] == [False, False, False, True, False, False]
    assert run.league.players["main-1"].role is Role.HISTORICAL
    assert list(trained[1].win_rates) == ["main"]
    assert {result.opponent for result in run.evaluation if result.player == "main"} == {
        "random",
        "main-1",
        "exploiter-1",
    }


def test_a_main_that_learns_by_search_is_attacked_like_any_other() -> None:
    search = {"id": "alphazero", "simulations": 4, "rollout_steps": 4, "warm_up": 100, "minibatch": 64}
    file = league("alphastar", {**MAIN, "algorithm": search}, EXPLOITER, RANDOM)
    run = lanista.train(file, generations=6, games=20).finish()
    trained = [each for each in run.generations if each.number]
    assert [each.player for each in trained] == ["main", "exploiter"] * 3
    assert {"divergence", "policy_loss"} <= trained[0].metrics.keys() and "divergence" not in trained[1].metrics
    assert list(trained[1].win_rates) == ["main"], "the exploiter met the main"
    assert trained[2].snapshot == "main-1"
    assert {"random", "main-1", "exploiter-1"} == {
        result.opponent for result in run.evaluation if result.player == "main"
    }


def test_what_was_trained_is_measured_and_saved_after_a_reset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[MatchTask] = []

    def noted(task: MatchTask, **given: Any) -> MatchResult:
        played.append(task)
        return play_match(task, **given)

    monkeypatch.setattr(evaluation, "play_match", noted)
    until = {"steps": 1_000_000, "until": {"opponent": "random", "win_rate": 0.01}}
    file = league("psro", MAIN, RANDOM) | {"budget": until, "evaluation": {"games": 40, "every_generations": 2}}
    run = lanista.train(file, generations=4, games=0).finish()
    assert run.end.endswith("against random")
    last = run.generations[-1]
    assert last.number == 2 and last.reset
    assert run.league.players["main"].version.checkpoint != last.checkpoint
    own = [task.entrants[0].checkpoint for task in played if task.entrants[0].id.startswith("main:")]
    assert own == 3 * [last.checkpoint], "the rating games, those against the target and those at the end"
    assert sha256(run.checkpoint()).hexdigest() == last.checkpoint.sha256
    saved = (run.save(tmp_path) / "main.safetensors").read_bytes()
    assert sha256(saved).hexdigest() == last.checkpoint.sha256


def test_a_pool_plays_its_meta_game() -> None:
    file = league("psro", MAIN, RANDOM) | {"evaluation": {"games": 40, "every_generations": 1}}
    run = lanista.train(file, generations=5, games=0).finish()
    payoff = run.league.payoff.view()
    assert payoff.known("main-1", "random") and payoff.known("main-1", "main-2")  # type: ignore[arg-type]


def test_a_game_of_one_team_has_a_curve_of_returns() -> None:
    file = SMALL | {"game": {"id": "gymnasium", "env": "CartPole-v1"}, "generation": {"steps": 512, "tables": 8}}
    run = lanista.train(file, generations=2).finish()
    assert [each.number for each in run.generations] == [1, 2] and run.curve_name == "mean return"
    assert all(each.score == each.metrics["return_mean"] for each in run.generations)
    (result,) = run.evaluation
    assert result.opponent is None and result.win_rate is None and result.mean_return > 5


def test_progress_is_told() -> None:
    seen: list[GenerationProgress] = []
    lanista.train(SMALL, games=0, generations=1, on_progress=seen.append).finish()
    assert {each.player for each in seen} == {"main"} and seen[-1].steps >= 2_048 and "value_loss" in seen[-1].metrics


def test_frames_and_plots(small: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = small.to_frame()
    assert list(frame["generation"]) == [0, 1, 2, 3] and frame["steps"].iloc[-1] == small.league.steps
    assert {"score", "value_loss", "entropy", "sha256"} <= set(frame.columns)
    axes = small.plot()
    assert len(axes.lines) == 1 and axes.get_ylabel() == "score"
    with pytest.raises(ValueError, match=r"no generation has a number 'los'; allowed: .*value_loss"):
        small.plot("los")
    monkeypatch.setattr(curves, "find_spec", lambda name: None)
    text = small.plot("entropy")
    assert text.startswith("main  ") and any(block in text for block in curves.BLOCKS)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        small.to_frame()


def test_a_sparkline_spans_its_values() -> None:
    assert curves.sparkline([]) == "" and curves.sparkline([2.0, 2.0]) == "▁▁"
    assert curves.sparkline([0.0, 0.5, 1.0]) == "▁▅█"
    long = curves.sparkline([0.0, *(1.0,) * 499])
    assert long == "▁" + "█" * (curves.MOST_POINTS - 1), "the beginning is part of the curve"


def test_its_folder_has_checkpoints_metrics_and_the_trial(tmp_path: Path) -> None:
    run = lanista.train(SMALL, generations=2, folder=tmp_path / "out").finish()
    rows = list(csv.DictReader((tmp_path / "out" / "metrics.csv").read_text().splitlines()))
    assert [row["generation"] for row in rows] == ["0", "1", "2"]
    checkpoint = decode((tmp_path / "out" / "main.safetensors").read_bytes())
    assert checkpoint.steps == run.league.steps
    assert (tmp_path / "out" / "main.safetensors").read_bytes() == run.checkpoint("main") == run.checkpoint()
    assert json.loads((tmp_path / "out" / "evaluation.json").read_text())[0]["player"] == "main"
    again = lanista.train(tmp_path / "out" / "trial.yaml", generations=2).finish()
    assert again.generations[-1].checkpoint.sha256 == run.generations[-1].checkpoint.sha256
    run.save(tmp_path / "later")
    assert {path.name for path in (tmp_path / "later").iterdir()} == {
        path.name for path in (tmp_path / "out").iterdir()
    }


def test_modules_beside_the_file_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    code = "from workers.games.builtin.tic_tac_toe import TicTacToe\n\n\nclass Mine(TicTacToe):\n    pass\n"
    (tmp_path / "beside_the_file.py").write_text(code)
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump(SMALL | {"game": {"id": "beside_the_file:Mine"}}))
    assert lanista.train(file, generations=1, games=0).finish().league.steps == 2_048


def test_modules_are_looked_for_in_the_order_of_what_is_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, beside = tmp_path / "here", tmp_path / "beside"
    for folder in (here, beside):
        folder.mkdir()
        (folder / "found_twice.py").touch()
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", [str(here), *sys.path])  # it is there already, and comes second nevertheless
    file = beside / "small.yaml"
    file.write_text(yaml.safe_dump(SMALL))
    read_source(file)
    found = PathFinder.find_spec("found_twice")
    assert found is not None and found.origin == str(beside / "found_twice.py")
    assert code_folders(file)[:2] == [beside, here]


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ({"game": {"id": "tic_tac"}}, "unknown game 'tic_tac'"),
        (SMALL | {"initial_weights": "01890000-0000-7000-8000-000000000000"}, "names a version of a stack's store"),
        ("nowhere.yaml", "cannot be read: No such file"),
    ],
)
def test_bad_files_are_refused(file: Any, words: str) -> None:
    with pytest.raises(InvalidTrial, match=words):
        lanista.train(file)


def test_importing_lanista_stays_light() -> None:
    code = "import sys, lanista; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"torch", "ray", "sqlalchemy", "temporalio", "numpy"} & set(loaded)
    code = "import sys; from lanista import train; sys.exit('ray' in sys.modules or 'sqlalchemy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
