"""Sentences on what happens in a league: which player exploits which, when that ends, whom a main beats now.

Pure functions: two states of the league are compared by the games that were played between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from league.types import Role

LEAST_GAMES: Final = 40
"""With fewer games between two looks nothing is said."""
HOLE, CLOSED, BEATS_PAST, BEATS_BOT = 0.6, 0.5, 0.65, 0.9
EXPLOITERS: Final = (Role.MAIN_EXPLOITER, Role.LEAGUE_EXPLOITER)
_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A player of the league."""

    role: Role
    generation: int = 0
    """Its newest generation."""
    parent: str | None = None
    """Of a snapshot: the player that it was taken of."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """All games of one player against another so far."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    def since(self, before: Record) -> Record:
        return Record(wins=self.wins - before.wins, draws=self.draws - before.draws, losses=self.losses - before.losses)

    @property
    def rate(self) -> float | None:
        """The win rate, draws as half; None for too few games."""
        return (self.wins + self.draws / 2) / self.games if self.games >= LEAST_GAMES else None


Pair = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Look:
    """The league at one moment: its players, and the games of each ordered pair that has met."""

    players: Mapping[str, Seen]
    records: Mapping[Pair, Record]


@dataclass(frozen=True, kw_only=True)
class Hole:
    """An exploiter beats a main. Once it is frozen, its snapshot is who has to be beaten."""

    main: str
    by: str
    generation: int
    """The main's generation when the hole was found."""


@dataclass(frozen=True, kw_only=True)
class Story:
    """What was seen and said so far."""

    last: Look = field(default_factory=lambda: Look(players={}, records={}))
    holes: tuple[Hole, ...] = ()
    beaten: frozenset[Pair] = frozenset()
    """Whom a main was said to beat; said once."""


def comment(story: Story, look: Look) -> tuple[Story, list[str]]:
    """The story after a look, and what is new in it, in sentences."""
    recent = {pair: record.since(story.last.records.get(pair, Record())) for pair, record in look.records.items()}
    rates = {pair: record.rate for pair, record in recent.items()}
    open_holes = tuple(_followed(hole, story.last, look) for hole in story.holes)
    said, holes = [], []
    for hole in open_holes:
        sentence = _closing(hole, look, rates)
        said += [sentence] if sentence else []
        holes += [] if sentence else [hole]
    for hole, rate in _new_holes(look, rates, holes):
        holes.append(hole)
        said.append(f"{hole.by} found a hole in {hole.main}: it wins {rate:.0%}")
    beaten = dict(_newly_beaten(look, rates, story.beaten))
    said += beaten.values()
    return replace(story, last=look, holes=tuple(holes), beaten=story.beaten | beaten.keys()), said


def _followed(hole: Hole, before: Look, look: Look) -> Hole:
    """The hole after the exploiter was frozen: its newest snapshot keeps what it found; it may itself start anew."""
    fresh = [name for name, seen in look.players.items() if seen.parent == hole.by and name not in before.players]
    return replace(hole, by=fresh[-1]) if fresh else hole


def _closing(hole: Hole, look: Look, rates: Mapping[Pair, float | None]) -> str:
    """That the main no longer loses to who found the hole; empty while it does, or while they have not met."""
    own, other = rates.get((hole.main, hole.by)), rates.get((hole.by, hole.main))
    rate = own if own is not None else None if other is None else 1 - other
    if rate is None or rate < CLOSED or hole.main not in look.players:
        return ""
    later = look.players[hole.main].generation - hole.generation
    when = "within the same generation" if later < 1 else f"{_counted(later, 'generation')} later"
    return f"{hole.main} closed it {when}: it wins {rate:.0%} against {hole.by}"


def _new_holes(look: Look, rates: Mapping[Pair, float | None], known: list[Hole]) -> Iterator[tuple[Hole, float]]:
    taken = {(hole.main, _owner(look, hole.by)) for hole in known}
    for (name, opponent), rate in rates.items():
        found, main = look.players.get(name), look.players.get(opponent)
        if found is None or main is None or rate is None or rate < HOLE:
            continue
        if found.role in EXPLOITERS and main.role is Role.MAIN and (opponent, name) not in taken:
            yield Hole(main=opponent, by=name, generation=main.generation), rate


def _newly_beaten(look: Look, rates: Mapping[Pair, float | None], known: frozenset[Pair]) -> Iterator[tuple[Pair, str]]:
    for pair, rate in rates.items():
        main, other = look.players.get(pair[0]), look.players.get(pair[1])
        if main is None or other is None or rate is None or main.role is not Role.MAIN or pair in known:
            continue
        if other.role is Role.BOT and rate >= BEATS_BOT:
            yield pair, f"{pair[0]} beats {pair[1]}: it wins {rate:.0%}"
        if other.role is Role.HISTORICAL and other.parent == pair[0] and rate >= BEATS_PAST:
            yield pair, f"{pair[0]} beats its own past, {pair[1]}: it wins {rate:.0%}"


def _owner(look: Look, name: str) -> str:
    seen = look.players.get(name)
    return name if seen is None or seen.parent is None else seen.parent


def _counted(number: int, word: str) -> str:
    spelled = _NUMBERS[number] if number < len(_NUMBERS) else str(number)
    return f"{spelled} {word}{'' if number == 1 else 's'}"
