"""`lanista try`: what it prints, what it writes, and how it tells errors of user code."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import typer
import yaml
from safetensors.torch import save_file
from typer.testing import CliRunner, Result

from lanista.cli import app
from lanista.cli.leagues.model import weights_file
from lanista.cli.local.try_display import LiveView, display
from lanista.training.run import train
from orchestrator.spec.reading.loading import parse_trial
from tests.unit.one_process.trial_files import SMALL
from workers.games.names import make_game
from workers.models.contract import build_model

BROKEN = """
from workers.games.builtin.tic_tac_toe import TicTacToe


class Broken(TicTacToe):
    moves = 0

    def advance(self, actions):
        self.moves += 1
        if self.moves == 40:
            secret = 42
            raise RuntimeError("the board caught fire")
        return super().advance(actions)
"""
OWN = """
from lanista.algorithms import Algorithm, AlgorithmOptions
from workers.games.builtin.tic_tac_toe import TicTacToe


class Wide(TicTacToe):
    def __init__(self, *, tables, reach):
        if reach < 0:
            raise ValueError("reach must be positive")
        super().__init__(tables=tables)


class PlainOptions(AlgorithmOptions):
    weight: float = 1.0


class Plain(Algorithm):
    Options = PlainOptions

    def loss(self, batch, nets):
        return nets["policy"](batch.obs, batch.legal)[1] * self.options.weight
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def run(file: dict[str, Any], *options: str, typed: str = "") -> Result:
    Path("small.yaml").write_text(yaml.safe_dump(file))
    return CliRunner().invoke(app, ["try", "small.yaml", *options], input=typed)


def test_it_trains_and_says_what_was_learnt(folder: Path) -> None:
    result = run(SMALL, "--set", "generation.steps=1024", "--generations", "2")
    assert result.exit_code == 0, result.output
    assert "main  generation 2  2,048 steps" in result.stderr
    assert "Learning curve (win rate against random)" in result.stdout and "evaluation" in result.stdout
    assert "Checkpoints and metrics: lanista-try/small" in result.stdout
    assert (folder / "lanista-try" / "small" / "main.safetensors").exists()


def test_json_is_for_programs(folder: Path) -> None:
    result = run(SMALL, "--json", "--steps", "2048", "--games", "10", "--to", "here")
    told = json.loads(result.stdout)
    assert [each["generation"] for each in told["generations"]] == [0, 1] and told["folder"] == "here"
    assert told["evaluation"][0]["opponent"] == "random"


def test_problems_of_the_file_are_listed() -> None:
    result = run(SMALL | {"algorithm": {"id": "ppo", "entropi": 1}})
    assert result.exit_code == 1 and "small.yaml:" in result.stderr and "entropi" in result.stderr


def test_own_components_that_cannot_be_made_have_their_line_in_the_file(folder: Path) -> None:
    (folder / "own_parts.py").write_text(OWN)
    file = {"game": {"id": "own_parts:Wide", "reach": 2}, "algorithm": {"id": "own_parts:Plain", "weigth": 2}}
    result = run(SMALL | file)
    assert result.exit_code == 1
    assert (
        result.stderr.startswith("small.yaml:3:11: algorithm.weigth = 2: ") and result.stderr.count("small.yaml") == 1
    )
    result = run(SMALL | {"game": {"id": "own_parts:Wide", "reach": -1}})
    assert result.exit_code == 1 and ": game.id = own_parts:Wide: ValueError: reach must be positive" in result.stderr
    assert result.stderr.startswith("small.yaml:") and 'own_parts.py", line' in result.stderr


def test_an_error_of_user_code_is_told_with_its_line(folder: Path) -> None:
    Path("broken_game.py").write_text(BROKEN)
    result = run(SMALL | {"game": {"id": "broken_game:Broken"}})
    assert result.exit_code == 1
    assert 'broken_game.py", line 12, in advance' in result.stderr.replace("\n", "")
    assert "RuntimeError: the board caught fire" in result.stderr


def test_pdb_stops_in_the_users_own_code(folder: Path) -> None:
    Path("broken_board.py").write_text(BROKEN)
    result = run(SMALL | {"game": {"id": "broken_board:Broken"}}, "--pdb", typed="p secret + self.moves\nq\n")
    assert result.exit_code == 1
    assert "82" in result.stdout and "advance" in result.stdout


def test_a_breakpoint_ends_the_live_view_first(monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[str] = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: reached.append("here"))
    trial = train(SMALL, games=10)
    with display(trial, live=True, lines=True) as view:
        assert isinstance(view, LiveView)
        trial.on_progress = view.progress
        for generation in trial:
            view.generation(generation)
            breakpoint()
            assert not view.is_live
            break
    assert reached == ["here"] and sys.breakpointhook.__name__ == "<lambda>"


def test_processes_that_need_ray_are_named() -> None:
    result = run(SMALL | {"generation": {"steps": 2048, "rollout_actors": 2}})
    assert result.exit_code == 1
    assert "generation.rollout_actors is 2" in result.stderr and "--ray" in result.stderr


def test_model_import_takes_a_folder_of_a_run(folder: Path) -> None:
    (folder / "run").mkdir()
    with pytest.raises(typer.BadParameter, match=r"no \.safetensors file"):
        weights_file(folder / "run", None)
    (folder / "run" / "main.safetensors").write_bytes(b"")
    assert weights_file(folder / "run", None) == folder / "run" / "main.safetensors"
    (folder / "run" / "rival.safetensors").write_bytes(b"")
    assert weights_file(folder / "run", "rival").name == "rival.safetensors"
    assert weights_file(folder / "run" / "main.safetensors", None).name == "main.safetensors"
    with pytest.raises(typer.BadParameter, match="--player must be one of main, rival"):
        weights_file(folder / "run", None)


def test_a_plain_state_dict_is_tried_and_trained_without_a_stack(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANISTA_URL", raising=False)
    file = SMALL | {"initial_weights": "first.safetensors"}
    Path("small.yaml").write_text(yaml.safe_dump(file))
    validate = ["trial", "validate", "small.yaml", "--home", str(folder / "none")]
    missing = CliRunner().invoke(app, validate)
    assert missing.exit_code == 1 and f"there is no file 'first.safetensors' in {folder}" in missing.stderr
    save_file({"other": torch.zeros(3)}, "first.safetensors")
    assert "weights do not fit the model" in CliRunner().invoke(app, validate).stderr
    checked = parse_trial(Path("small.yaml").read_text()).spec
    model = build_model(checked.model.component, make_game(checked.game.id, 1).spec)
    save_file(dict(model.state_dict()), "first.safetensors")
    tried = CliRunner().invoke(app, validate)
    assert tried.exit_code == 0 and "tried on this machine" in tried.stderr, tried.stderr
    trained = run(file, "--generations", "1", "--set", "generation.steps=512")
    assert trained.exit_code == 0, trained.output
