"""Checks a game by random play: shapes, legality, ends, determinism by seed, speed.

`lanista game check` prints the report. A problem names the method of the game that it concerns, with file and line.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from workers.games.errors import IllegalAction
from workers.games.protocol import VectorGame
from workers.games.random_play import PlayedGame, RandomPlay
from workers.games.turn_checks import check_result, check_turn
from workers.user_traceback import user_traceback

TABLES = 64
REPLAYED = 100
"""Games that are played again from their seed and their actions."""
TRIED_ILLEGAL = 200
"""Games in which an illegal action is looked for."""

MakeGame = Callable[[int], VectorGame]


@dataclass(frozen=True, kw_only=True)
class GameProblem:
    """What is wrong with a game."""

    check: str
    text: str
    place: str = ""
    """File and line of the method, or the user's part of the traceback."""


@dataclass(kw_only=True)
class GameReport:
    """What random play found."""

    facts: dict[str, str] = field(default_factory=dict)
    passed: list[str] = field(default_factory=list)
    problems: list[GameProblem] = field(default_factory=list)

    def add(self, check: str, text: str, place: str = "") -> None:
        self.problems.append(GameProblem(check=check, text=text, place=place))


class GameCheck:
    """One check of a game. A check that raises ends the report: the following ones would raise too."""

    def __init__(self, make: MakeGame, *, games: int = 1000, seconds: float = 60.0, seed: int = 0) -> None:
        self._make, self._games, self._seconds, self._seed = make, games, seconds, seed
        self.report = GameReport()

    def run(self) -> GameReport:
        """Make the game, play it and judge what happened."""
        for name, check in (
            ("make", self._check_spec),
            ("play", self._check_play),
            ("illegal actions", self._check_illegal),
            ("determinism", self._check_determinism),
            ("rendering", self._check_rendering),
        ):
            before = len(self.report.problems)
            try:
                check()
            except Exception as error:  # user code may raise anything; that is the finding
                self.report.add(name, f"{type(error).__name__}: {error}", user_traceback(error))
                return self.report
            if len(self.report.problems) == before:
                self.report.passed.append(name)
        return self.report

    def _check_spec(self) -> None:
        self._game = self._make(TABLES)
        spec = self._game.spec
        parts = spec.observation_parts
        shown = {name or "observation": f"{part.dtype} {list(part.shape)}" for name, part in parts.items()}
        self.report.facts |= {
            "game": spec.id,
            "seats": f"{spec.seats}, teams {list(spec.teams)}, {'simultaneous' if spec.simultaneous else 'in turn'}",
            "observation": ", ".join(f"{name} {text}" for name, text in shown.items()),
            "actions": str(spec.action),
            "at most": f"{spec.max_steps} steps a game",
        }

    def _check_play(self) -> None:
        self._play = RandomPlay(self._game, self._seed)
        began = time.monotonic()
        while len(self._play.played) < self._games and time.monotonic() - began < self._seconds:
            turn = self._play.look()
            self._note(check_turn(self._game, turn))
            if not self.report.problems:
                self._note(check_result(self._game, self._play.act(turn), self._play.plies_before))
            if self.report.problems:
                return
        self._tell_games(time.monotonic() - began)

    def _note(self, found: tuple[str, str] | None) -> None:
        """Report a problem that is given as the method at fault and what is wrong."""
        if found is not None:
            method, text = found
            self.report.add("play", text, place_of(self._game, method))

    def _tell_games(self, seconds: float) -> None:
        played, spec = self._play.played, self._game.spec
        if not played:
            self.report.add("play", f"no game ended within {seconds:.0f} s", place_of(self._game, "advance"))
            return
        lengths = np.array([game.length for game in played])
        returns = np.array([game.returns for game in played])
        facts = self.report.facts
        facts["games"] = (
            f"{len(played):,} of random moves, {lengths.mean():.1f} steps each, the longest {lengths.max()}"
        )
        facts["returns"] = ", ".join(f"seat {seat}: {mean:.3f}" for seat, mean in enumerate(returns.mean(axis=0)))
        facts["speed"] = f"{self._play.steps / max(seconds, 1e-9):,.0f} steps/s on {TABLES} tables, checks included"
        if len(played) < self._games:
            facts["games"] += f"; {self._games:,} would have taken more than {self._seconds:.0f} s"
        never = self._play.never_legal
        if never:
            names = ", ".join(spec.action_name(action) for action in never[:10])
            facts["never legal"] = f"{len(never)} of {spec.actions} actions: {names}"
        if self._play.constant_observations:
            facts["note"] = "every position looks the same to every seat"

    def _check_illegal(self) -> None:
        """Play an illegal action where there is one: the game must refuse it."""
        game = self._make(1)
        if not game.spec.discrete:
            return
        play, began = RandomPlay(game, self._seed + 1), time.monotonic()
        while len(play.played) < TRIED_ILLEGAL and time.monotonic() - began < self._seconds / 4:
            turn = play.look()
            legal = game.legal_of(turn)
            if legal is not None and not legal.all():
                row = int(np.argmin(legal.all(axis=1)))
                actions = np.argmax(legal, axis=1)
                actions[row] = int(np.argmin(legal[row]))
                self._expect_refusal(game, actions, turn)
                return
            play.act(turn)

    def _expect_refusal(self, game: VectorGame, actions: Any, turn: Any) -> None:
        name = game.spec.action_name(int(actions[0]))
        try:
            game.step(actions)
        except IllegalAction:
            return
        self.report.add(
            "illegal actions",
            f"the illegal action {name} was played; refuse it: self.refuse_illegal(actions, self.turn())",
            place_of(game, "advance"),
        )

    def _check_determinism(self) -> None:
        """Play games again at a table of their own: the seed and the actions must be the whole game."""
        if not self._game.seeds_fix_games:
            self._check_rollout()
            return
        for game in _spread(self._play.played, REPLAYED):
            again = self._make(1)
            again.auto_reset = False
            problem = game.differs(again)
            if problem is not None:
                method, text = problem
                self.report.add(
                    "determinism",
                    f"the game of seed {game.seed} differs when it is played again: {text}; all chance must come from "
                    "self.seeds_of(tables), and begin must reset everything of its tables",
                    place_of(again, method),
                )
                return

    def _check_rollout(self) -> None:
        """Play the first games of all tables again: the seeds of the tables and the actions must be the rollout."""
        first = self._play.played[:REPLAYED]
        again = RandomPlay(self._make(TABLES), self._seed)
        while len(again.played) < len(first) and again.steps < self._play.steps:
            again.act(again.look())
        if again.played[: len(first)] != first:
            self.report.add(
                "determinism",
                "the games differ when all tables are reset with the same seeds and the same actions are played; all "
                "chance must come from the seed of the environments' reset",
                place_of(self._game, "begin"),
            )

    def _check_rendering(self) -> None:
        game = self._make(1)
        game.reset(np.array([self._seed], np.uint64))
        for seat in (None, *range(game.spec.seats)):
            text, picture = game.render_text(0, seat), game.render_svg(0, seat)
            if not (isinstance(text, str) and isinstance(picture, str)):
                shown = type(text).__name__
                self.report.add("rendering", f"render_text returns {shown}, not str", place_of(game, "render_text"))
                return


def check_game(make: MakeGame, *, games: int = 1000, seconds: float = 60.0, seed: int = 0) -> GameReport:
    """Check a game by this many games of random moves, or as many as end in this time."""
    return GameCheck(make, games=games, seconds=seconds, seed=seed).run()


def place_of(game: VectorGame, method: str) -> str:
    """File and line of the game's method, as an editor takes them."""
    found = getattr(type(game), method)
    try:
        file, line = inspect.getsourcefile(found), inspect.getsourcelines(found)[1]
    except (OSError, TypeError):  # a method without a source file
        return ""
    path = Path(file or "")
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return f"{shown}:{line} ({type(game).__name__}.{method})"


def _spread(games: list[PlayedGame], count: int) -> list[PlayedGame]:
    """At most `count` of the games, evenly spread."""
    return games[:: max(1, -(-len(games) // count))]
