"""Makes a project from a template: few files, which test themselves and train."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from lanista.new.commented_file import commented_trial

NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")
RESERVED = frozenset({"api", "lanista", "league", "migrations", "orchestrator", "workers", "tests", "test"})

Trial = Callable[[str], dict[str, Any]]
"""The trial file of a template, given the name of the project's package."""


class BadProject(ValueError):
    """The project cannot be made; says what is allowed."""


@dataclass(frozen=True, kw_only=True)
class Template:
    """The files of one kind of project."""

    about: str
    sources: Mapping[str, str]
    """The template of each file, by its path in the project; PACKAGE stands for the package's name."""
    trial: Trial
    modules: Mapping[str, str] = field(default_factory=dict)
    """What each module is for, for the README."""
    next_target: str = "try"
    """The target of its Makefile to go on with after the tests."""


def _board_trial(package: str, algorithm: dict[str, Any], **league: Any) -> dict[str, Any]:
    return {
        "seed": 1,
        "game": {"id": f"{package}.game:Nim", "heaps": 3, "most": 5},
        "model": {"id": f"{package}.model:Net", "width": 64},
        "algorithm": algorithm,
        "league": {
            "players": [
                {"name": "main", "role": "main"},
                *league.pop("others", []),
                {"name": "random", "role": "bot", "bot": "random"},
                {"name": "perfect", "role": "bot", "bot": f"{package}.bot:Perfect"},
            ],
            **league,
        },
        "generation": {"steps": 20_000, "tables": 256},
        "evaluation": {"every_generations": 5, "games": 200},
        "budget": {"steps": 2_000_000},
    }


def _league(package: str) -> dict[str, Any]:
    ppo = {"id": "ppo", "learning_rate": 0.003, "rollout_steps": 16, "minibatch": 1024, "entropy": 0.02}
    return _board_trial(
        package,
        ppo,
        preset="alphastar",
        others=[{"name": "main-exploiter", "role": "main_exploiter"}],
        snapshot={"min_steps": 40_000, "win_rate": 0.7, "max_steps": 80_000},
    )


def _sl(package: str) -> dict[str, Any]:
    return _board_trial(
        package, {"id": "bc", "dataset": [f"{package}.data:games"], "learning_rate": 0.003, "minibatch": 512}
    )


def _sl_rl(package: str) -> dict[str, Any]:
    imitation = {"id": "sl_rl", "dataset": [f"{package}.data:games"], "learning_rate": 0.003, "rollout_steps": 16}
    return _board_trial(package, imitation | {"minibatch": 1024}, preset="pfsp")


def _rl(package: str) -> dict[str, Any]:
    return {
        "seed": 1,
        "game": {"id": "gymnasium", "env": f"{package}.env:Walk", "max_steps": 20},
        "model": {"id": "mlp", "hidden": [64, 64]},
        "algorithm": {
            "id": f"{package}.algorithm:Dqn",
            "rollout_steps": 8,
            "minibatch": 64,
            "replay_ratio": 8,
            "explore_steps": 5_000,
        },
        "league": {"preset": "self_play", "champion_gate": None},
        "generation": {"steps": 2_000, "tables": 8},
        "evaluation": {"games": 100},
        "budget": {"steps": 100_000},
    }


def _cooperative(package: str) -> dict[str, Any]:
    return {
        "seed": 1,
        "game": {"id": f"{package}.game:Meeting", "size": 5},
        "model": {"id": "mlp", "hidden": [64, 64]},
        "algorithm": {
            "id": "vdn",
            "learning_rate": 0.002,
            "explore_steps": 10_000,
            "warm_up": 200,
            "replay_ratio": 8.0,
        },
        "league": {"preset": "self_play", "champion_gate": None},
        "generation": {"steps": 4_000, "tables": 32},
        "evaluation": {"games": 100},
        "budget": {"steps": 200_000},
    }


def _gamecore(package: str) -> dict[str, Any]:
    box = {"type": "box", "shape": [3, 6], "low": 0, "high": 1}
    spec = {"seats": 2, "observation": box, "action": {"type": "discrete", "n": 9}, "max_steps": 15}
    return {
        "seed": 1,
        "game": {"id": "remote", "agent": f"{package}.agent:Nim", "spec": spec},
        "model": {"id": "mlp", "hidden": [64, 64]},
        "algorithm": {"id": "ppo", "learning_rate": 0.003, "rollout_steps": 16, "minibatch": 256, "entropy": 0.02},
        "league": {
            "preset": "pfsp",
            "players": [
                {"name": "main", "role": "main"},
                {"name": "random", "role": "bot", "bot": "random"},
                {"name": "house", "role": "bot", "bot": "outside-house"},
            ],
            "matchmaking": {"include_bots": True},
            "snapshot": {"min_steps": 20_000, "win_rate": 0.7, "max_steps": 40_000},
        },
        "generation": {"steps": 4_000, "tables": 64},
        "evaluation": {"every_generations": 2, "games": 80},
        "budget": {"steps": 1_000_000},
    }


def _serve(package: str) -> dict[str, Any]:
    ppo = {"id": "ppo", "learning_rate": 0.003, "rollout_steps": 16, "minibatch": 1024, "entropy": 0.02}
    return _board_trial(package, ppo, preset="pfsp", snapshot={"min_steps": 40_000, "max_steps": 80_000})


_SHARED = {
    "README.md": "shared/README.md",
    "Makefile": "shared/Makefile",
    "PACKAGE/__init__.py": "shared/package.py",
}
_BOARD = {
    **_SHARED,
    "PACKAGE/game.py": "board/game.py",
    "PACKAGE/bot.py": "board/bot.py",
    "PACKAGE/model.py": "board/model.py",
    "tests/test_project.py": "board/test_project.py",
}
_BOARD_MODULES = {
    "game.py": "the game: Nim with several heaps, on many tables at once",
    "bot.py": "a scripted player, which never makes a mistake",
    "model.py": "the network",
}
_DATA_MODULES = {**_BOARD_MODULES, "data.py": "the data set: decisions of the scripted player, with mistakes"}
_DATA = {**_BOARD, "PACKAGE/data.py": "board/data.py", "tests/test_data.py": "board/test_data.py"}

TEMPLATES: Mapping[str, Template] = {
    "league": Template(
        about="A league on a board game of one's own: a main, an exploiter and their past, matched as AlphaStar's.",
        sources=_BOARD,
        trial=_league,
        modules=_BOARD_MODULES,
    ),
    "rl": Template(
        about="Reinforcement learning in a Gymnasium environment of one's own, by an algorithm of one's own.",
        sources={
            **_SHARED,
            "PACKAGE/env.py": "rl/env.py",
            "PACKAGE/algorithm.py": "rl/algorithm.py",
            "tests/test_project.py": "rl/test_project.py",
        },
        trial=_rl,
        modules={"env.py": "the environment", "algorithm.py": "the algorithm: DQN in one file, its loss in ten lines"},
    ),
    "sl": Template(
        about="Supervised learning: a player that imitates recorded decisions (behaviour cloning).",
        sources=_DATA,
        trial=_sl,
        modules=_DATA_MODULES,
    ),
    "sl_rl": Template(
        about="Imitation first, then reinforcement learning: a player starts from data and goes on by its own games.",
        sources=_DATA,
        trial=_sl_rl,
        modules=_DATA_MODULES,
    ),
    "cooperative": Template(
        about="A team: two mates that earn together and learn together (VDN).",
        sources={
            **_SHARED,
            "PACKAGE/game.py": "cooperative/game.py",
            "tests/test_project.py": "cooperative/test_project.py",
        },
        trial=_cooperative,
        modules={"game.py": "the game: two mates meet on a ring, which they see in part"},
    ),
    "gamecore": Template(
        about="A game in a process of its own that calls in, in whatever language; an agent speaks with it.",
        sources={
            "README.md": "gamecore/README.md",
            "Makefile": "gamecore/Makefile",
            "PACKAGE/__init__.py": "shared/package.py",
            "PACKAGE/game.py": "gamecore/game.py",
            "PACKAGE/lanista_gamecore.py": "gamecore/lanista_gamecore.py",
            "PACKAGE/agent.py": "gamecore/agent.py",
            "tests/test_project.py": "gamecore/test_project.py",
        },
        trial=_gamecore,
        next_target="start",
        modules={
            "game.py": "the game: Nim, as a program that asks for moves, with a perfect player of its own",
            "lanista_gamecore.py": "the client: the only file that a game in Python needs",
            "agent.py": "the agent: bytes to observations, actions to bytes, and the result",
        },
    ),
    "serve": Template(
        about="A trained player behind a server: another program asks it for moves over HTTP.",
        sources={
            **{path: source for path, source in _BOARD.items() if not path.startswith("tests/")},
            "README.md": "serve/README.md",
            "Makefile": "serve/Makefile",
            "PACKAGE/agent.py": "serve/agent.py",
            "PACKAGE/client.py": "serve/client.py",
            "tests/test_project.py": "serve/test_project.py",
        },
        trial=_serve,
        modules={
            **_BOARD_MODULES,
            "agent.py": "the agent: what the program sends to observations, actions to what it understands",
            "client.py": "the program: asks for moves over HTTP",
        },
    ),
}


def make_project(name: str, template: str, parent: Path) -> list[Path]:
    """Write a project's files to a new folder; returns their paths. Raises BadProject."""
    if not NAME.fullmatch(name) or name.replace("-", "_") in RESERVED:
        raise BadProject(
            f"{name!r} cannot be the name of a project; allowed: small letters, digits, - and _, as my-game; "
            f"not {', '.join(sorted(RESERVED))}"
        )
    if template not in TEMPLATES:
        raise BadProject(f"there is no template {template!r}; allowed: {', '.join(TEMPLATES)}")
    folder = parent / name
    if folder.exists():
        raise BadProject(f"{folder} exists already; choose another name, or remove it")
    package = name.replace("-", "_")
    written = {path.replace("PACKAGE", package): text for path, text in _texts(name, package, template).items()}
    for path, text in written.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return [folder / path for path in written]


def _texts(name: str, package: str, template: str) -> dict[str, str]:
    chosen = TEMPLATES[template]
    folder = files("lanista.new") / "templates"

    project = name.replace("_", "-")
    trial = {"project": project, "trial": template.replace("_", "-"), **chosen.trial(package)}
    modules = "\n".join(f"| `{package}/{module}` | {what} |" for module, what in chosen.modules.items())
    words = {"ABOUT": chosen.about, "MODULES": modules, "TRIALNAME": str(trial["trial"])}

    def filled(path: str, source: str) -> str:
        text = (folder / f"{source}.txt").read_text(encoding="utf-8")
        for word, meaning in (words if path == "README.md" else {}).items():
            text = text.replace(word, meaning)
        return text.replace("PACKAGE", package).replace("PROJECT", project).replace("INTERPRETER", _interpreter())

    return {
        "trial.yaml": commented_trial(trial, chosen.about),
        **{path: filled(path, source) for path, source in chosen.sources.items()},
    }


def _interpreter() -> str:
    """The Python that the project's Makefile runs: `python` where that is this one, as in an active environment."""
    return "python" if shutil.which("python") == sys.executable else sys.executable
