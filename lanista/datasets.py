"""Data sets from the recorded games of a league: `lanista data export` as a function.

Needs the extra `stack`, because games are replayed here. docs/guides/algorithms.md has the form of the files.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.schemas.enums import MatchResult
from api.schemas.matches import Match
from api.schemas.trials import Trial
from lanista.client import Client
from orchestrator.spec import TrialSpec
from workers.games.decisions import Decisions, decisions_of
from workers.games.names import make_game

ROWS_PER_FILE = 65_536
"""Rows after which a file is written; a game is never divided."""
TRAIN, VALIDATION = "train", "validation"


@dataclass(frozen=True, kw_only=True)
class GameFilter:
    """Which games, and which decisions of them."""

    player: str | None = None
    """Only decisions of this player, by its name."""
    version: int | None = None
    """Only decisions of this version of the player."""
    winners: bool = False
    """Only decisions of the side that won."""
    games: int | None = None
    """At most so many games, the newest first."""


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What was written."""

    files: tuple[Path, ...]
    games: int
    train_rows: int
    validation_rows: int


@dataclass
class _Part:
    """The files of one part of the data; holds the rows of the one that is being filled."""

    folder: Path
    name: str
    rows: int = 0
    files: list[Path] = field(default_factory=list)
    _waiting: list[tuple[int, Decisions]] = field(default_factory=list)
    _held: int = 0

    def add(self, game: int, decisions: Decisions) -> None:
        self._waiting.append((game, decisions))
        self._held += len(decisions)
        if self._held >= ROWS_PER_FILE:
            self.write()

    def write(self) -> None:
        """Write the rows that wait."""
        if not self._held:
            return
        path = self.folder / f"{self.name}-{len(self.files):05}.npz"
        np.savez_compressed(path, **joined(self._waiting))  # type: ignore[arg-type]
        self.files.append(path)
        self.rows += self._held
        self._waiting, self._held = [], 0


def export_games(
    client: Client,
    trial: Trial,
    folder: str | Path,
    which: GameFilter | None = None,
    *,
    validation: float = 0.1,
    progress: Callable[[int], None] = lambda games: None,
) -> Exported:
    """Write the decisions of a league's gating and rating games to files in a folder, game by game.

    Random opening moves are left out, and so are games whose moves were pruned. A share of the games, by the numbers of
    the matches, goes into files of their own, to measure on. Raises FileExistsError where the folder has files.
    """
    which, target = which or GameFilter(), Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    if any(target.iterdir()):
        raise FileExistsError(f"{target} is not empty; give a new folder")
    game = TrialSpec.model_validate(trial.spec).game.component
    make = partial(_make, game.id, dict(game.options))
    teams = make(1).spec.teams
    parts = {name: _Part(target, name) for name in (TRAIN, VALIDATION)}
    count = 0
    for match in _matches(client, trial, which):
        if match.moves is None:  # pruned since it was listed
            continue
        decisions = decisions_of(make, match.seed, match.moves)
        kept = decisions.only(_wanted(match, decisions, teams, which))
        if len(kept):
            held = zlib.crc32(str(match.id).encode()) < validation * 2**32
            parts[VALIDATION if held else TRAIN].add(match.id, kept)
        count += 1
        progress(count)
    for part in parts.values():
        part.write()
    return Exported(
        files=tuple(path for part in parts.values() for path in part.files),
        games=count,
        train_rows=parts[TRAIN].rows,
        validation_rows=parts[VALIDATION].rows,
    )


def joined(games: list[tuple[int, Decisions]]) -> dict[str, NDArray[Any]]:
    """Several games as the columns of one file."""
    starts = np.cumsum([0, *(len(decisions) for _, decisions in games[:-1])])
    links = [
        np.where(decisions.next_row >= 0, decisions.next_row + start, decisions.next_row)
        for (_, decisions), start in zip(games, starts, strict=True)
    ]
    names = games[0][1].columns
    return {
        **{name: np.concatenate([decisions.columns[name] for _, decisions in games]) for name in names},
        "next_row": np.concatenate(links),
        "seat": np.concatenate([decisions.seat for _, decisions in games]),
        "game": np.concatenate([np.full(len(decisions), number) for number, decisions in games]),
    }


def _matches(client: Client, trial: Trial, which: GameFilter) -> Iterator[Match]:
    player_id = None if which.player is None else client.find_player(trial, which.player).id
    listed = client.matches(trial, player_id=player_id, page_size=500)
    for summary in islice((each for each in listed if each.moves_pruned_at is None), which.games):
        yield client.match(summary.id)


def _wanted(match: Match, decisions: Decisions, teams: tuple[int, ...], which: GameFilter) -> NDArray[np.bool_]:
    """Decisions of the sides that are asked for, after the random opening."""
    mine = np.asarray(teams)[decisions.seat] == match.seat
    sides = (
        (mine, match.player, match.version_number, match.result is MatchResult.WIN),
        (~mine, match.opponent, match.opponent_version_number, match.result is MatchResult.LOSS),
    )
    chosen = np.zeros(len(decisions), np.bool_)
    for rows, player, version, won in sides:
        fits = which.player in (None, player) and which.version in (None, version) and (won or not which.winners)
        chosen |= rows & fits
    opening = int((match.opening or {}).get("plies", 0))
    later: NDArray[np.bool_] = decisions.ply >= opening
    return chosen & later


def _make(game: str, options: dict[str, Any], tables: int) -> Any:
    return make_game(game, tables, **options)
