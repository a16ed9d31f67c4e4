"""The benchmark of slime volleyball: valid trials, the package's policy in arrays, scores, and rows that are kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.slime_volley import __main__ as benchmark
from benchmarks.slime_volley import leagues
from benchmarks.slime_volley.baseline import Baseline, score_against
from benchmarks.slime_volley.equality import compare, record
from orchestrator.spec.reading.checking import check_spec
from workers.games.builtin.slime_volley import NAMES
from workers.games.names import make_game
from workers.inference.policy import Policy
from workers.models.contract import build_model

NOTHING = {"weight": np.zeros((7, 15)), "bias": np.full(7, -3.0)}
"""Weights of a policy that never presses a button."""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As the benchmark sets it: on a loaded machine threads that wait for each other are slow."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("by", leagues.BY)
def test_its_trials_are_valid_and_nobody_meets_a_bot(by: str) -> None:
    spec = check_spec(leagues.spec_of(by, 1, {"steps": 1_000_000}))
    roles = [player.role for player in spec.league.players]
    assert len(roles) == (3 if by == leagues.LEAGUE else 1) and "bot" not in roles


def test_the_packages_policy_presses_buttons_by_what_it_puts_out() -> None:
    pressed = {(1, 0, 0): "forward", (0, 1, 0): "back", (1, 1, 1): "jump", (1, 0, 1): "forward_jump", (1, 1, 0): "stay"}
    for buttons, name in pressed.items():
        bias = np.array([*(3.0 if button else 0.0 for button in buttons), 0.0, 0.0, 0.0, 0.0])
        policy = Baseline(np.zeros((7, 15)), bias, 2)
        assert [NAMES[action] for action in policy.act(np.zeros((2, 12)))] == [name] * 2


def test_it_remembers_its_last_output() -> None:
    weight = np.zeros((7, 15))
    weight[0, 8 + 3] = 5.0  # forward where the fourth output was high before
    policy = Baseline(weight, np.array([0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0]), 1)
    assert [NAMES[int(policy.act(np.zeros((1, 12)))[0])] for _ in range(2)] == ["stay", "forward"]


def test_scores_are_points_of_whole_episodes() -> None:
    spec = make_game("slime_volley", 1).spec
    policy = Policy(build_model(benchmark_model(), spec))
    score = score_against(policy, NOTHING, episodes=6, seed=1, sampled=True)
    assert score.episodes == 6 and -5 <= score.mean <= 5 and 100 < score.length <= 3000
    assert score == score_against(policy, NOTHING, episodes=6, seed=1, sampled=True)
    assert score.wins + score.losses <= 6 and score.to_json()["half_width"] > 0


def benchmark_model() -> Any:
    return check_spec(leagues.spec_of("pfsp", 1, {"steps": 1_000_000})).model.component


def test_a_recording_that_the_package_shows_differently_is_counted() -> None:
    recording = record(np.arange(3, dtype=np.uint64), NOTHING)
    shown = {name: getattr(recording, name).copy() for name in ("observations", "rewards", "done", "choices")}
    same = compare(recording, shown)
    assert same["episodes"] == 3 and same["steps"] == len(recording.actions) and same["points"] >= 10
    assert not any(count for name, count in same.items() if name.startswith("different"))
    shown["observations"][5, 1, 3] += 0.001
    shown["rewards"][7] += 1
    different = compare(recording, shown)
    assert (different["different_numbers"], different["different_rewards"], different["different_ends"]) == (1, 1, 0)


def test_what_is_there_is_not_run_again_and_the_league_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def run(by: str, seed: int, rows: dict[str, Any], given: Any) -> dict[str, Any]:
        ran.append(f"{by} {seed}")
        return {"steps": 5, "greedy": {"mean": 0.5 * seed}}

    monkeypatch.setattr(benchmark, "run", run)
    file = tmp_path / "rows.json"
    for _ in range(2):
        monkeypatch.setattr(
            "sys.argv", ["slime_volley", "--json", "--seeds", "1,2", "--by", "pfsp,league", "--file", str(file)]
        )
        benchmark.main()
    assert ran == ["league 1", "pfsp 1", "league 2", "pfsp 2"]
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert printed["summary"]["league"] == {"mean": 0.75, "by_seed": [0.5, 1.0]}


def test_rows_of_fewer_steps_have_names_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benchmark, "run", lambda by, seed, rows, given: {"greedy": {"mean": 0.5 + given.main_steps}})
    file = tmp_path / "rows.json"
    for more in ([], ["--main-steps"]):
        monkeypatch.setattr("sys.argv", ["slime_volley", "--json", "--seeds", "1", "--file", str(file), *more])
        benchmark.main()
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert "pfsp, 30 minutes, seed 1, steps of the league's main alone" in printed["rows"]
    assert len(printed["rows"]) == 5, "a league is the same with either"
    assert printed["summary"]["pfsp"] == {"mean": 0.5, "by_seed": [0.5]}
