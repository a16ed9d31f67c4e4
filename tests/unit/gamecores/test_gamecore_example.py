"""The example of examples/gamecore: tic-tac-toe in C++ with an exact solver, its agent and its trial file."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lanista.fakes.model import FakeActor, FakeCasting, remote_game
from orchestrator.spec.reading.loading import load_trial_file
from tests.unit.gamecores.conftest import ROOT, serving
from workers.agents.runner import AgentRunner
from workers.gateway.contract import Cast, SessionResult
from workers.gateway.models import BatchedModel
from workers.gateway.server import Gateway

FOLDER = ROOT / "examples" / "gamecore"

Build = Callable[[Path], Path]


class Results(FakeCasting):
    """Keeps the results."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.results: list[SessionResult] = []

    def finished(self, cast: Cast, result: SessionResult) -> None:
        super().finished(cast, result)
        self.results.append(result)


@pytest.fixture
def trial(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(FOLDER)
    return load_trial_file(FOLDER / "trial.yaml")


def play(
    build: Build, trial: Any, *arguments: str, outside: frozenset[int] = frozenset(), learning: bool = True
) -> tuple[Results, Any]:
    """Games of the C++ program against a model that acts at random, through the example's own agent."""
    spec, agents = remote_game(trial)
    made: list[Results] = []

    def start(gateway: Gateway) -> None:
        loop = asyncio.get_running_loop()
        casting = Results(spec, BatchedModel(FakeActor(spec), spec, "fake"), outside, learning)
        made.append(casting)
        gateway.play(casting, lambda session, cast: AgentRunner(session, cast, agents, casting, loop))

    with serving(start) as served:
        command = [build(FOLDER / "tic_tac_toe.cpp"), served.tcp, "--tables", "2", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == "", done.stderr
    return made[0], json.loads(done.stdout)


def test_the_model_plays_both_seats(build: Build, trial: Any) -> None:
    casting, score = play(build, trial, "--games", "20")
    assert score == {"games": 20, "won": 0, "drawn": 0, "lost": 0}
    assert len(casting.results) == 20 and not casting.aborts
    assert all(result.returns.sum() == 0 and not result.outside for result in casting.results)
    assert 20 * 5 <= casting.rows <= 20 * 9
    assert len({tuple(result.returns) for result in casting.results}) > 1


@pytest.mark.parametrize("seat", [0, 1])
def test_the_league_gives_a_seat_to_the_solver_which_never_loses(build: Build, trial: Any, seat: int) -> None:
    casting, score = play(build, trial, "--games", "30", outside=frozenset({seat}))
    assert score["games"] == 30 and score["won"] == 0 and score["lost"] > 0
    assert all(result.outside == {seat: "solver"} for result in casting.results)
    assert all(result.returns[seat] >= 0 for result in casting.results)


def test_the_game_asks_to_play_a_seat_by_its_solver(build: Build, trial: Any) -> None:
    casting, score = play(build, trial, "--games", "20", "--against-solver", learning=False)
    assert score["won"] + score["drawn"] + score["lost"] == 20 and score["won"] == 0
    assert {next(iter(result.outside)) for result in casting.results} == {0, 1}
