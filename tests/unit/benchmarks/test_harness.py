"""The harness measures in turn, judges both rivals alike, and says plainly what was not reached."""

import argparse
from pathlib import Path

import pytest
import torch
from torch import nn

from benchmarks.__main__ import measurements
from benchmarks.peers import strength
from benchmarks.peers.rates import Slice, interleave
from benchmarks.peers.rllib.venv import requirements
from benchmarks.peers.strength import NOT_REACHED, GoalResult, summary, train_to_goal, translate
from benchmarks.speed import selfplay
from league.types import CheckpointRef
from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from workers.models.mlp import Mlp


class Steady:
    """A peer with given rates, slice after slice."""

    def __init__(self, *rates: float) -> None:
        self._rates = iter(rates)
        self.calls: list[float] = []

    def train(self, seconds: float) -> Slice:
        self.calls.append(seconds)
        return Slice(steps=int(next(self._rates) * seconds), seconds=seconds)

    def close(self) -> None:
        """Nothing to end."""


class Student(Steady):
    """Learns one percentage point a second."""

    game = Component(id="connect_four")

    def __init__(self) -> None:
        super().__init__(*[1000.0] * 10_000)

    def version(self) -> CheckpointRef:
        return CheckpointRef(uri="checkpoint", sha256="0" * 64, size=1)


def test_rates_are_medians_without_the_first_slice() -> None:
    peers = {"a": Steady(1, 100, 300, 200), "b": Steady(1, 10, 10, 40)}
    assert interleave(peers, rounds=3, seconds=4.0) == {"a": 200.0, "b": 10.0}
    assert peers["a"].calls == [2.0, 4.0, 4.0, 4.0]


def test_a_goal_counts_when_other_seeds_confirm_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    student = Student()

    def play(game: Component, version: CheckpointRef, bot: str, store: ArtifactStore, seed: int) -> float:
        skill = sum(student.calls) / 100
        lucky = 0.05 if seed % 2 == 0 else 0.0
        return skill + lucky if bot == "random" else 0.1

    monkeypatch.setattr(strength, "win_rate", play)
    random_play, search = strength.GOALS
    result = train_to_goal("student", student, random_play, ArtifactStore(str(tmp_path)), limit=150.0)
    assert 90.0 <= result.reached <= 90.0 * 1.1
    assert result.seconds == result.reached
    beaten = train_to_goal("student", student, search, ArtifactStore(str(tmp_path)), limit=150.0)
    assert beaten.best == 0.1 and beaten.seconds == pytest.approx(150.0)


def test_what_is_not_reached_is_said() -> None:
    there, late, never = GoalResult(reached=2.0, best=0.95), GoalResult(reached=40.0, best=0.91), GoalResult(best=0.8)
    found = summary({"lanista": [there] * 3, "rllib": [late, late, never]})
    assert found["lanista"] == [2.0, 2.0, 2.0]
    assert found["rllib"] == [40.0, 40.0, NOT_REACHED]
    assert found["rllib_best_win_rate"] == [0.91, 0.91, 0.8]
    assert found["ratio"] == 20.0
    assert summary({"lanista": [there], "rllib": [never]})["ratio"] == NOT_REACHED


def test_the_rivals_network_plays_alike_as_a_lanista_checkpoint() -> None:
    trunk = nn.Sequential(nn.Linear(126, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
    heads = {"policy": nn.Linear(64, 7), "value": nn.Linear(64, 1)}
    weights = {f"trunk.{name}": tensor for name, tensor in trunk.state_dict().items()}
    for head, layer in heads.items():
        weights |= {f"{head}.{name}": tensor for name, tensor in layer.state_dict().items()}
    mlp = Mlp(observation_shape=(126,), actions=7, hidden=(64, 64))
    mlp.load_state_dict(translate(weights))
    rows, legal = torch.rand(5, 126), torch.ones(5, 7, dtype=torch.bool)
    with torch.no_grad():
        logits, values = mlp(rows, legal)
        assert torch.allclose(logits, heads["policy"](trunk(rows)), atol=1e-6)
        assert torch.allclose(values, heads["value"](trunk(rows)).squeeze(1), atol=1e-6)


def test_parts_are_checked() -> None:
    parse = selfplay.arguments().parse_args
    assert parse(["--parts", "same,bare"]).parts == ("same", "bare")
    with pytest.raises(argparse.ArgumentTypeError, match="allowed: same, best, bare, strength"):
        selfplay.parts("same,worst")


def test_the_rival_runs_the_same_versions_without_build_tags() -> None:
    wanted = dict(line.split("==") for line in requirements())
    assert wanted.keys() == {"ray[rllib]", "torch", "numpy", "open_spiel"}
    assert wanted["torch"] == torch.__version__.split("+")[0]


def test_every_benchmark_is_documented_with_its_arguments() -> None:
    root = Path(selfplay.__file__).parents[2]
    text = (root / "docs" / "benchmarks.md").read_text()
    programs = measurements()
    assert {"selfplay", "chaos", "algorithms", "screenshots"} <= programs.keys()
    assert [name for name in programs if f"python -m benchmarks.{name}`" not in text] == []
    flags = [flag for action in selfplay.arguments()._actions for flag in action.option_strings if flag != "-h"]
    assert [flag for flag in flags if flag not in text and flag != "--help"] == []
