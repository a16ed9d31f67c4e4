"""`lanista trial validate` says ok with a summary, or all problems and exit code 1."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.schemas.trials import CheckedFile, SpecProblem
from lanista.cli import app
from lanista.cli.leagues import trial_checks
from orchestrator.spec import trial_json_schema

EXAMPLES = Path(__file__).parents[3] / "examples"
OWN_ALGORITHM = """
from lanista.algorithms import Algorithm


class Plain(Algorithm):
    def loss(self, batch, nets):
        return nets["policy"](batch.obs, batch.legal)[1]
"""
runner = CliRunner()


@pytest.fixture(autouse=True)
def no_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANISTA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LANISTA_URL", raising=False)


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.yaml"
    path.write_text("game: {id: conect_four}\nstart: now\n")
    return path


def test_a_good_file_is_summarised() -> None:
    done = runner.invoke(app, ["trial", "validate", str(EXAMPLES / "pfsp.yaml")])
    assert done.exit_code == 0
    assert done.stdout.startswith("ok ")
    for words in ("player mcts-50", "1,000,000 steps on 1 x 1024 tables", "30m or win rate 0.5 against mcts-50"):
        assert words in done.stdout


def test_without_a_stack_it_says_what_was_not_checked() -> None:
    done = runner.invoke(app, ["trial", "validate", str(EXAMPLES / "pfsp.yaml")])
    assert "not checked: game, model and algorithm together, because no stack answers" in " ".join(done.stderr.split())


def test_what_a_worker_finds_is_refused_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Answering:
        """A client of a stack whose worker refuses the model."""

        def __init__(self, *given: object, **more: object) -> None:
            """Needs no address."""

        def __enter__(self) -> "Answering":
            return self

        def __exit__(self, *raised: object) -> None:
            """Nothing to close."""

        def validate_trial(self, *, spec: dict[str, object]) -> CheckedFile:
            problem = SpecProblem(path="model.hidden", message="does not fit", value="mlp", line=None, column=None)
            return CheckedFile(valid="model" not in spec, problems=[problem], spec=None, not_checked=None)

    monkeypatch.setattr(trial_checks, "Client", Answering)
    monkeypatch.setattr(trial_checks, "address", lambda home: None)
    done = runner.invoke(app, ["trial", "validate", str(EXAMPLES / "pfsp.yaml")])
    assert done.exit_code == 1 and done.stdout == ""
    assert "pfsp.yaml:11:26: model.hidden" in done.stderr and "does not fit" in done.stderr


def test_a_misspelt_option_of_an_own_algorithm_is_one_problem(tmp_path: Path) -> None:
    (tmp_path / "own_learning.py").write_text(OWN_ALGORITHM)
    file = tmp_path / "own.yaml"
    file.write_text('game: {id: openspiel, game: tic_tac_toe}\nalgorithm:\n  id: "own_learning:Plain"\n  gama: 0.9\n')
    done = runner.invoke(app, ["trial", "validate", str(file), "--json"])
    (problem,) = json.loads(done.stdout)["problems"]
    assert (problem["path"], problem["line"], problem["value"]) == ("algorithm.gama", 4, "0.9")
    assert "did you mean 'gamma'?" in problem["message"]


def test_a_good_file_as_json_is_the_whole_trial() -> None:
    done = runner.invoke(app, ["trial", "validate", str(EXAMPLES / "pfsp.yaml"), "--json"])
    answer = json.loads(done.stdout)
    assert answer["ok"] is True
    assert answer["trial"]["league"]["preset"] == "pfsp"


def test_a_wrong_file_is_refused_with_every_problem(wrong: Path) -> None:
    done = runner.invoke(app, ["trial", "validate", str(wrong)])
    assert done.exit_code == 1
    assert f"{wrong}:1:12: game.id" in done.stderr
    assert f"{wrong}:2:8: start" in done.stderr
    assert "2 problems" in done.stderr
    assert done.stdout == ""


def test_problems_as_json_have_lines_and_paths(wrong: Path) -> None:
    done = runner.invoke(app, ["trial", "validate", str(wrong), "--json"])
    assert done.exit_code == 1
    answer = json.loads(done.stdout)
    assert answer["ok"] is False
    assert [(problem["line"], problem["path"]) for problem in answer["problems"]] == [(1, "game.id"), (2, "start")]


def test_the_schema_is_printed() -> None:
    done = runner.invoke(app, ["trial", "schema"])
    assert json.loads(done.stdout) == trial_json_schema()
