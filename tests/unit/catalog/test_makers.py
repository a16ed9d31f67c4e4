"""What an import path names is checked before it is called: nothing but the right kind ever is."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import gymnasium
import pettingzoo
import pytest

from orchestrator.catalog import CatalogError, Component
from orchestrator.matchmakers import load_matchmaker
from orchestrator.user_code.makers import described, makes
from workers.algorithms.contract import BadAlgorithm, algorithm_class
from workers.bots.names import make_bot
from workers.bots.protocol import BadBot
from workers.games.adapters.gymnasium import GymnasiumGame
from workers.games.adapters.pettingzoo import AecGame, ParallelGame
from workers.games.builtin.connect_four import ConnectFour
from workers.games.errors import BadGame
from workers.games.names import make_game
from workers.models.contract import build_model

SPEC = ConnectFour(tables=1).spec
HERE = "tests.unit.catalog.test_makers"


def annotated(**options: object) -> gymnasium.Env:
    return gymnasium.make("CartPole-v1", **options)


def unannotated():
    raise AssertionError("called")


def misleading() -> NoSuchThing:  # type: ignore[name-defined]  # noqa: F821
    raise AssertionError("called")


def env(**options: object):
    """Named as PettingZoo names its own functions."""
    return pettingzoo.make("aec", "classic/tictactoe_v3", **options)


MAKERS: dict[str, Callable[[str, Path], object]] = {
    "gymnasium": lambda name, file: GymnasiumGame(tables=1, env=name, options={"args": ["touch", str(file)]}),
    "aec": lambda name, file: AecGame(tables=1, env=name, options={"args": ["touch", str(file)]}),
    "parallel": lambda name, file: ParallelGame(tables=1, env=name, options={"args": ["touch", str(file)]}),
    "game": lambda name, file: make_game(name, 1, args=["touch", str(file)]),
    "model": lambda name, file: build_model(Component(id=name, options={"args": ["touch", str(file)]}), SPEC),
    "algorithm": lambda name, _: algorithm_class(Component(id=name)),
    "bot": lambda name, _: make_bot(name, SPEC),
    "matchmaker": lambda name, _: load_matchmaker(name),
}


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("name", ["subprocess:Popen", "os:system", f"{HERE}:unannotated", f"{HERE}:misleading"])
def test_nothing_but_the_right_kind_is_called(kind: str, name: str, tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    with pytest.raises((BadGame, BadBot, BadAlgorithm, CatalogError), match=r"allowed: a |not a subclass"):
        MAKERS[kind](name, touched)
    assert not touched.exists()


def test_functions_that_say_what_they_make_are_called() -> None:
    assert GymnasiumGame(tables=1, env=f"{HERE}:annotated").spec.max_steps == 500
    assert AecGame(tables=1, env=f"{HERE}:env").spec.seats == 2


def test_a_class_must_be_a_subclass_and_a_function_must_be_annotated() -> None:
    assert makes(ConnectFour, type(ConnectFour(tables=1)))
    assert not makes(subprocess.Popen, gymnasium.Env)
    assert not makes(len, gymnasium.Env)
    assert described(len) == "a builtin_function_or_method"
    assert described(subprocess.Popen) == "the class subprocess.Popen"
    assert described(unannotated) == "a function without a return annotation"
    assert described(annotated) == "a function that returns Env"
