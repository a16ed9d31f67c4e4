"""The task of a match: the game, the entrants, the number of pairs, and the sources of randomness.

See docs/decisions/rollouts-and-matches.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from league.types import CheckpointRef, VersionId
from orchestrator.catalog import Component
from workers.games.protocol import GameSpec

MOST_TABLES = 256
LONGEST_DEFAULT_OPENING = 8
"""The longest default opening, in plies: even with two legal moves per ply there are 256 such openings."""


class BadMatch(ValueError):
    """The match cannot be played as asked; the message says what is allowed."""


class MatchStopped(Exception):
    """The match was told to stop. Unfinished games are no results, so it has none."""


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """One side of a match, in all seats of its team: a model version by its checkpoint, or a bot by its name."""

    id: VersionId
    checkpoint: CheckpointRef | None = None
    bot: str | None = None

    def __post_init__(self) -> None:
        if (self.checkpoint is None) == (self.bot is None):
            raise BadMatch(f"entrant {self.id!r} needs either a checkpoint or a bot's name, not both or neither")


@dataclass(frozen=True, kw_only=True)
class Randomness:
    """Sources of randomness, so that deterministic players do not repeat one game; the two can be combined."""

    sampled: bool = True
    """Policies draw from their probabilities; otherwise they play their best move."""
    opening_plies: int | None = 0
    """Random legal moves before the players take over, the same ones in every game of a pair; None for as many as
    suit the game.
    """

    def __post_init__(self) -> None:
        if self.opening_plies is not None and self.opening_plies < 0:
            raise BadMatch(f"opening_plies must be 0 or more, not {self.opening_plies}")

    def __str__(self) -> str:
        play = "sampled" if self.sampled else "greedy"
        if self.opening_plies is None:
            return f"{play}, random openings where they suit the game"
        return f"{play}, random openings of {self.opening_plies} plies" if self.opening_plies else play

    def plies(self, spec: GameSpec) -> int:
        """The length of the openings in this game."""
        return default_opening_plies(spec) if self.opening_plies is None else self.opening_plies


def default_opening_plies(spec: GameSpec) -> int:
    """The length of a random opening that makes games differ and leaves most of the game to the players.

    0 in games of chance, which differ anyway, and where a random move would reveal hidden information.
    """
    if spec.chance or not spec.open_board:
        return 0
    return min(LONGEST_DEFAULT_OPENING, max(2, spec.max_steps // 10), spec.max_steps // 2)


@dataclass(frozen=True, kw_only=True)
class MatchTask:
    """One fixed batch of games. The same task gives the same games."""

    game: Component
    entrants: tuple[Entrant, ...]
    pairs: int
    """How many seeds; each is played once per way of seating the entrants (twice for two in two teams)."""
    seed: int
    randomness: Randomness = Randomness()
    tables: int = MOST_TABLES
    """Games under way at once, at most."""
    trial: str = ""
    """The trial's id, for games that call in and are kept."""

    def __post_init__(self) -> None:
        if self.pairs < 1 or self.tables < 1:
            raise BadMatch(f"pairs and tables must be at least 1, not {self.pairs} and {self.tables}")
        if not 0 <= self.seed < 1 << 64:
            raise BadMatch(f"a match's seed must lie between 0 and 2**64 - 1, not {self.seed}")

    def check(self, spec: GameSpec) -> None:
        """Raise BadMatch if the game does not allow the task."""
        allowed = {1, 2} if spec.team_count == 1 else {2, spec.team_count}
        if len(self.entrants) not in allowed:
            counts = " or ".join(str(count) for count in sorted(allowed))
            raise BadMatch(f"{spec.id}: a match takes {counts} entrants, not {len(self.entrants)}")
        plies = self.randomness.plies(spec)
        if plies and not spec.open_board:
            raise BadMatch(
                f"{spec.id}: random openings need a game of several seats that move in turn and see everything; "
                "let the policies sample instead"
            )
        if plies > spec.max_steps // 2:
            raise BadMatch(
                f"{spec.id}: {plies} opening plies leave too little of a game of "
                f"at most {spec.max_steps}; allowed: up to {spec.max_steps // 2}"
            )

    def check_games_differ(self, spec: GameSpec) -> None:
        """Raise BadMatch if deterministic players would repeat one game."""
        varied = self.randomness.sampled or spec.chance or self.randomness.plies(spec) > 0
        if self.pairs > 1 and spec.open_board and not varied:
            raise BadMatch(
                f"{spec.id}: best moves (sampled: false) without random openings (opening_plies: 0) repeat one game; "
                "leave opening_plies out for openings that suit the game, or let the policies sample"
            )
