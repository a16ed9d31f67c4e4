"""`lanista game check`: sound games pass, each fault is found and named with its line."""

from __future__ import annotations

import inspect
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lanista.cli import app
from tests.unit.games import faulty_games
from workers.games.adapters import gymnasium_vector
from workers.games.checking import check_game
from workers.games.names import make_game

CHECKS = ["make", "play", "illegal actions", "determinism", "rendering"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("connect_four", {}),
        ("leduc_poker", {}),
        ("rock_paper_scissors", {}),
        ("soccer", {}),
        ("gymnasium", {"env": "CartPole-v1"}),
        ("gymnasium", {"env": "CartPole-v1", "vector": True}),
        ("gymnasium", {"env": "Pendulum-v1"}),
        ("openspiel", {"game": "kuhn_poker(players=3)"}),
    ],
)
def test_sound_games_pass(name: str, options: dict[str, Any]) -> None:
    report = check_game(lambda tables: make_game(name, tables, **options), games=80, seconds=20)
    assert not report.problems
    assert report.passed == CHECKS and report.facts["games"].startswith(("8", "9", "1"))


def test_a_rollout_that_its_seeds_do_not_fix_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(range(10**6))
    monkeypatch.setattr(gymnasium_vector, "mix_ints", lambda *seeds: next(drawn) << 33)
    make = partial(make_game, "gymnasium", env="CartPole-v1", vector=True)
    report = check_game(make, games=80, seconds=20)
    assert [problem.check for problem in report.problems] == ["determinism"]


@pytest.mark.parametrize(
    ("fault", "method", "words"),
    [
        ("WrongShape", "turn", r"the observation must be float32 of shape \(64, 2, 3, 3\), .* not float32 of shape"),
        ("WrongType", "turn", "not float64"),
        ("NotANumber", "turn", "the observation has a number that is not finite"),
        ("NoMove", "turn", "must act and has no legal action"),
        ("AcceptsAnything", "advance", r"the illegal action .* was played; refuse it: self.refuse_illegal"),
        ("OwnDice", "advance", r"differs when it is played again: step 0 earns .*, where it earned"),
        ("NeverReset", "advance", r"differs when it is played again"),
        ("TooLong", "advance", "goes on after max_steps"),
    ],
)
def test_a_fault_is_named_with_its_line(fault: str, method: str, words: str) -> None:
    kind = getattr(faulty_games, fault)
    report = check_game(lambda tables: kind(tables=tables), games=150, seconds=20)
    (problem,) = report.problems
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(problem.text)
    place = getattr(kind, method)
    file, line = inspect.getsourcefile(place), inspect.getsourcelines(place)[1]
    assert problem.place == f"{Path(file or '').relative_to(Path.cwd())}:{line} ({fault}.{method})"


def test_an_exception_is_told_with_its_frames() -> None:
    report = check_game(partial(_raises), games=10)
    (problem,) = report.problems
    assert problem.check == "play" and problem.text == "LookupError: the board is lost"
    assert "faulty_games.py" in problem.place and "in begin" in problem.place
    assert report.passed == ["make"]


def _raises(tables: int) -> faulty_games.Raises:
    return faulty_games.Raises(tables=tables)


def test_the_command_checks_a_module_of_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    source = Path(__file__).parents[3] / "examples" / "own_game.py"
    (tmp_path / "my_nim.py").write_text(source.read_text().replace("self.stones -= actions + 1", "self.stones -= 1"))
    sound = CliRunner().invoke(app, ["game", "check", "tic_tac_toe", "--games", "100", "--json"])
    assert sound.exit_code == 0 and json.loads(sound.stdout)["ok"]
    nim = CliRunner().invoke(app, ["game", "check", "my_nim:Nim", "--set", "most=9", "--games", "100"])
    assert nim.exit_code == 0, nim.output
    assert "ok: make, play, illegal actions, determinism, rendering" in nim.stdout
    unknown = CliRunner().invoke(app, ["game", "check", "my_nim:Chess"])
    assert unknown.exit_code == 1 and "my_nim:Chess" in unknown.stderr
