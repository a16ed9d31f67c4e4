"""Algorithms that need tables are refused for games that call in, in words."""

import re
from pathlib import Path

import pytest

from orchestrator.catalog import Component
from workers.algorithms.building import build_learner
from workers.algorithms.contract import make_algorithm
from workers.algorithms.errors import BadAlgorithm
from workers.crews.remote_rollouts import check_remote_algorithm
from workers.games.names import make_game

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "games-that-call-in.md"
REFUSED = ("apex", "atoc", "coma", "es", "mappo", "qmix", "vdn")
SPEC = {
    "observation": {"type": "box", "shape": [4]},
    "action": {"type": "discrete", "n": 3},
    "seats": 4,
    "teams": [0, 0, 1, 1],
    "simultaneous": True,
}


def check(name: str) -> None:
    algorithm = make_algorithm(Component(id=name))
    learner = build_learner(algorithm, Component(id="mlp"), make_game("remote", 1, spec=SPEC).spec, 0)
    check_remote_algorithm(algorithm, algorithm.actor(learner.all_nets()))


@pytest.mark.parametrize("name", REFUSED)
def test_algorithms_that_need_tables_are_refused(name: str) -> None:
    with pytest.raises(BadAlgorithm, match="games that call in have none"):
        check(name)


@pytest.mark.parametrize("name", ["ppo", "dqn"])
def test_algorithms_that_learn_by_themselves_are_taken(name: str) -> None:
    check(name)


def test_the_guide_names_those_that_are_refused() -> None:
    section = GUIDE.read_text().partition("## What is refused")[2].partition("## ")[0]
    assert set(REFUSED) <= set(re.findall(r"`(\w+)`", section))
