"""The catalog of what a trial may name: games, models, algorithms, bots, matchmakers and agents: name -> `module:attr`.

Built-ins are listed in `built_ins.py`: a built-in game is a class in `workers/games/builtin/` and one row there
(CONTRIBUTING.md has the checklist). Other packages add theirs by entry points (`lanista.games`, ...), and an import
path `module:attr` is a name too. Nothing is imported until `load`.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.metadata import entry_points
from itertools import zip_longest
from typing import Any

from orchestrator import built_ins
from orchestrator.built_ins import BuiltIn
from orchestrator.user_code.makers import described, makes

_IMPORT_PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_PLACE = re.compile(r"<(\w+):(\w+)>")
_NUMBER = r"\d+(?:\.\d+)?"
_PARAMETERS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "int": (r"\d+", int),
    "number": (_NUMBER, float),
    "numbers": (rf"{_NUMBER}(?:-{_NUMBER})*", lambda text: [float(part) for part in text.split("-")]),
    "word": (r"\w+", str),
}
"""How a parameter is written in a name, and the value it becomes."""


BUILT_IN = "built-in"
"""The source of entries that come with Lanista; other sources are a package, or an import path."""
IMPORT_PATH = "import path"
"""The source of names of the form `module:attr`: code that the sender of a trial chooses."""


class Kind(StrEnum):
    """What a name can stand for; the entry-point group of a kind is `lanista.<kind>s`."""

    GAME = "game"
    MODEL = "model"
    ALGORITHM = "algorithm"
    BOT = "bot"
    MATCHMAKER = "matchmaker"
    AGENT = "agent"

    @property
    def group(self) -> str:
        return f"lanista.{self.value}s"


_BUILT_INS: Mapping[Kind, Mapping[str, BuiltIn]] = {
    Kind.GAME: built_ins.GAMES,
    Kind.MODEL: built_ins.MODELS,
    Kind.ALGORITHM: built_ins.ALGORITHMS,
    Kind.BOT: built_ins.BOTS,
    Kind.MATCHMAKER: built_ins.MATCHMAKERS,
    Kind.AGENT: built_ins.AGENTS,
}


class CatalogError(Exception):
    """A name of the catalog that cannot be used."""


class UnknownName(CatalogError, LookupError):
    """No such name; the message lists what is allowed."""


class AmbiguousName(CatalogError):
    """Two sources claim the same name."""


class BrokenTarget(CatalogError):
    """The name is known, but what it stands for does not import."""


class WrongTarget(CatalogError):
    """The import path names something that does not make what is wanted; it is not called."""


@dataclass(frozen=True, kw_only=True)
class Component:
    """A name of the catalog and the options to make it with."""

    id: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One name of the catalog, or a form of names such as `mcts-<simulations:int>`."""

    kind: Kind
    form: str
    target: str
    description: str
    source: str
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options that the name stands for, besides those written in it."""
    opening_plies: int | None = None
    """Of a game: the random moves that suit the beginning of a rating game. 0 in games of chance, of one seat or of
    simultaneous moves; None where only the worker that plays the game can tell."""

    @property
    def name(self) -> str:
        """The name as people read it: `mcts-<simulations>`."""
        return _PLACE.sub(r"<\1>", self.form)

    def parse(self, name: str) -> dict[str, Any] | None:
        """The options written in a name of this form; None when it has another form."""
        places = _PLACE.findall(self.form)
        literals = [re.escape(part) for part in _PLACE.split(self.form)[::3]]
        written = [f"({_PARAMETERS[kind][0]})" for _, kind in places]
        pattern = "".join(part for parts in zip_longest(literals, written, fillvalue="") for part in parts)
        match = re.fullmatch(pattern, name)
        if match is None:
            return None
        read = [_PARAMETERS[kind][1](text) for (_, kind), text in zip(places, match.groups(), strict=True)]
        return {**self.options, **{option: value for (option, _), value in zip(places, read, strict=True)}}


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """An entry and the options that the name itself carries: `mcts-100` has 100 simulations."""

    entry: Entry
    options: Mapping[str, Any]


def names(kind: Kind) -> dict[str, Entry]:
    """Every name of the kind as people write it, built-ins first, without importing any target."""
    return {entry.name: entry for entry in _entries(kind)}


def built_in_names(kind: Kind) -> tuple[str, ...]:
    """The names of the kind that come with Lanista, in the order of the table."""
    return tuple(_BUILT_INS[kind])


def game_opening_plies(game: str) -> int | None:
    """The random opening moves that suit a built-in game; None where only the worker that plays it can tell."""
    known = _BUILT_INS[Kind.GAME].get(game)
    return None if known is None else known.opening_plies


def resolve(kind: Kind, name: str) -> Resolved:
    """The entry a name stands for, unimported; raises UnknownName or AmbiguousName."""
    if _IMPORT_PATH.fullmatch(name):
        entry = Entry(kind=kind, form=name, target=name, description="import path", source=IMPORT_PATH)
        return Resolved(entry=entry, options={})
    found = [(entry, options) for entry in _entries(kind) if (options := entry.parse(name)) is not None]
    if not found:
        raise UnknownName(_unknown(kind, name))
    if len(found) > 1:
        sources = " and ".join(entry.source for entry, _ in found)
        raise AmbiguousName(f"{kind} {name!r} is claimed by {sources}: rename or remove one")
    entry, options = found[0]
    return Resolved(entry=entry, options=options)


def load(kind: Kind, name: str) -> Any:
    """Import what the name stands for. Options in the name (`mcts-100`) come from `resolve`.

    Raises BrokenTarget, or ArtifactStoreUnavailable where own code cannot be fetched now.
    """
    entry = resolve(kind, name).entry
    module, _, attribute = entry.target.partition(":")
    try:
        target: Any = importlib.import_module(module)
        for part in attribute.split("."):
            target = getattr(target, part)
    except (Exception, SystemExit) as error:  # a user's module may raise anything
        from orchestrator.storage.artifacts import (
            ArtifactStoreUnavailable,  # here, since every command imports this module
        )

        if isinstance(error, ArtifactStoreUnavailable):
            raise  # the store of the code is away: the code may be fine
        problem = f"{type(error).__name__}: {error}"
        raise BrokenTarget(f"{kind} {name!r} ({entry.target}) does not import: {problem}") from error
    return target


def load_maker(kind: Kind, name: str, made: type, *, wanted: str) -> Any:
    """Like `load`; what an import path names must be known to make a `made` before anybody calls it.

    Targets of the catalog come with installed packages and are called as they are.
    """
    target = load(kind, name)
    if resolve(kind, name).entry.source == IMPORT_PATH and not makes(target, made):
        raise WrongTarget(f"{kind} {name!r} is {described(target)}; allowed: {wanted}")
    return target


def describe() -> dict[str, list[dict[str, str]]]:
    """The whole catalog for people and the API: per kind, how to write each name and what it is."""
    return {
        f"{kind}s": [
            {"name": entry.name, "description": entry.description, "source": entry.source} for entry in _entries(kind)
        ]
        for kind in Kind
    }


@cache
def _entries(kind: Kind) -> tuple[Entry, ...]:
    """The built-ins, then what third parties add by their entry points."""
    entries = [
        Entry(kind=kind, form=form, source=BUILT_IN, **built_in._asdict())
        for form, built_in in _BUILT_INS[kind].items()
    ]
    for point in entry_points(group=kind.group):
        owner = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        entries.append(Entry(kind=kind, form=point.name, target=point.value, description=f"from {owner}", source=owner))
    return tuple(entries)


def _unknown(kind: Kind, name: str) -> str:
    known = {entry.name.partition("-<")[0]: entry.name for entry in reversed(_entries(kind))}
    # "mcts" and "mtcs-50" are both nearest to mcts-<simulations>.
    nearest = difflib.get_close_matches(name, known, n=1) or difflib.get_close_matches(
        name.partition("-")[0], known, n=1
    )
    hint = f", did you mean {known[nearest[0]]!r}?" if nearest else "."
    return f"unknown {kind} {name!r}{hint} Allowed: {', '.join(sorted(names(kind)))}, or an import path module:attr"
