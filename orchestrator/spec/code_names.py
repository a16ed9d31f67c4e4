"""Finds the names in a trial or tournament that make a worker import or read what the sender chooses.

Such a name is an import path, an environment `module:attr`, an option that is an import path (environments import some
of theirs) or the path of a file, or a file that OpenSpiel reads. All other names belong to the catalog: code that is
installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orchestrator.spec.components import Choice
from orchestrator.spec.entrants import Rule, parse_entrant
from orchestrator.spec.game import GameChoice, GymnasiumGame, OpenSpielGame, PettingZooGame
from orchestrator.spec.players import PlayerSpec
from orchestrator.spec.reading.problems import path_text
from orchestrator.spec.tournament import TournamentSpec
from orchestrator.spec.trial import TrialSpec

Path = tuple[str | int, ...]
_IMPORT = re.compile(r"(?!https?://)[^\W\d][\w.]*:")
"""How an import path begins. What follows does not matter: the module is imported before the rest is looked at."""
_FILE = re.compile(r"[/~]|(.*/)?\.\.?/", re.DOTALL)
"""How the path of a file outside an environment's own folder begins, such as that of a MuJoCo model."""
_FILE_OPTION = re.compile(r"\w*file\w*\s*=", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class CodeName:
    """A name of code, or of a file: where the trial or tournament has it, and the name."""

    path: Path
    name: str

    @property
    def field(self) -> str:
        """The path as text: `league.players[2].bot`."""
        return path_text(self.path)


def code_in_trial(spec: TrialSpec) -> list[CodeName]:
    """Every name of code in a trial."""
    return [*_in_trial(spec)]


def code_in_game(game: GameChoice, path: Path = ("game",)) -> list[CodeName]:
    """Every name of code in a choice of a game."""
    return [*_in_game(game, path)]


def code_in_choice(choice: Choice, path: Path) -> list[CodeName]:
    """Every name of code in a choice of a model or an algorithm."""
    return [*_in_choice(choice, path)]


def files_in_trial(spec: TrialSpec) -> list[CodeName]:
    """Every data file that the algorithms of a trial and its players name."""
    found = files_in_choice(spec.algorithm, ("algorithm",))
    for number, player in enumerate(spec.league.players):
        if player.algorithm is not None:
            found += files_in_choice(player.algorithm, ("league", "players", number, "algorithm"))
    return found


def files_in_choice(choice: Choice, path: Path) -> list[CodeName]:
    """Every data file that an algorithm names; an import path is code."""
    return [
        CodeName(path=(*path, option, number), name=name)
        for option, names in choice.named_files.items()
        for number, name in enumerate(names)
        if not _IMPORT.match(name)
    ]


def code_in_tournament(spec: TournamentSpec) -> list[CodeName]:
    """Every name of code that a tournament itself has; its entrants may bring more."""
    found = code_in_game(spec.game) if spec.game is not None else []
    for field in ("entrants", "challengers"):
        for number, text in enumerate(getattr(spec, field)):
            rule = parse_entrant(text, known=False)
            if rule.rule is Rule.BOT and is_code(rule.argument):
                found.append(CodeName(path=(field, number), name=rule.argument))
    return found


def is_code(name: str) -> bool:
    """Whether a name of a model, an algorithm, a bot, a matchmaker or a game is an import path."""
    return ":" in name


def _in_trial(spec: TrialSpec) -> Iterator[CodeName]:
    yield from _in_game(spec.game, ("game",))
    yield from _in_choice(spec.model, ("model",))
    yield from _in_choice(spec.algorithm, ("algorithm",))
    if is_code(spec.league.preset):
        yield CodeName(path=("league", "preset"), name=spec.league.preset)
    for number, player in enumerate(spec.league.players):
        if player.bot is not None and is_code(player.bot):
            yield CodeName(path=("league", "players", number, "bot"), name=player.bot)
        yield from _in_player(player, ("league", "players", number))
    if spec.budget.until is not None and is_code(spec.budget.until.opponent):
        yield CodeName(path=("budget", "until", "opponent"), name=spec.budget.until.opponent)


def _in_player(player: PlayerSpec, path: Path) -> Iterator[CodeName]:
    if player.model is not None:
        yield from _in_choice(player.model, (*path, "model"))
    if player.algorithm is not None:
        yield from _in_choice(player.algorithm, (*path, "algorithm"))


def _in_game(game: GameChoice, path: Path) -> Iterator[CodeName]:
    if isinstance(game, OpenSpielGame):
        if _FILE_OPTION.search(game.game):
            yield CodeName(path=(*path, "game"), name=game.game)
    elif isinstance(game, GymnasiumGame | PettingZooGame):
        if is_code(game.env):
            yield CodeName(path=(*path, "env"), name=game.env)
        options = {name: value for name, value in game.component.options.items() if name != "env"}
        yield from _in_options(options, path)
    else:
        yield from _in_choice(game, path)


def _in_choice(choice: Choice, path: Path) -> Iterator[CodeName]:
    if is_code(choice.id):
        yield CodeName(path=(*path, "id"), name=choice.id)
    options = choice.component.options
    yield from _in_options({name: value for name, value in options.items() if name not in choice.data_files}, path)
    for option, names in choice.named_files.items():
        # files are read as data, from the import folders alone
        yield from (CodeName(path=(*path, option, n), name=name) for n, name in enumerate(names) if _IMPORT.match(name))


def _in_options(value: Any, path: Path) -> Iterator[CodeName]:
    if isinstance(value, str):
        if _IMPORT.match(value) or _FILE.match(value):
            yield CodeName(path=path, name=value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _in_options(inner, (*path, key))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _in_options(inner, (*path, number))
