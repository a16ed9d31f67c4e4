"""What a trial may name: games, models, algorithms, bots and matchmakers, as name -> `module:attr`.

Built-ins stand in one explicit table, third parties add theirs by entry points (`lanista.games`, ...), and an
import path `module:attr` is a name too. Nothing is imported until `load`.

    CatalogError
    ├── UnknownName     no such name; says what is allowed and what is nearest
    ├── AmbiguousName   two sources claim the name
    └── BrokenTarget    the name is known but its target does not import
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.metadata import entry_points
from typing import Any

_IMPORT_PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_NUMBERS = re.compile(r"-(\d+(?:\.\d+)?(?:-\d+(?:\.\d+)?)*)$")


class Kind(StrEnum):
    """What a name can stand for; the entry-point group of a kind is `lanista.<kind>s`."""

    GAME = "game"
    MODEL = "model"
    ALGORITHM = "algorithm"
    BOT = "bot"
    MATCHMAKER = "matchmaker"

    @property
    def group(self) -> str:
        return f"lanista.{self.value}s"


_BUILT_INS: Mapping[Kind, Mapping[str, tuple[str, str, tuple[str, ...]]]] = {
    Kind.GAME: {
        "connect_four": ("workers.games.connect_four:ConnectFour", "Connect four, 7 columns by 6 rows", ()),
        "tic_tac_toe": ("workers.games.tic_tac_toe:TicTacToe", "Tic-tac-toe, 3 by 3", ()),
        "rock_paper_scissors": (
            "workers.games.rock_paper_scissors:RockPaperScissors",
            "Rock, paper, scissors; both seats choose at once",
            (),
        ),
        "kuhn_poker": ("workers.games.kuhn_poker:KuhnPoker", "Kuhn poker, three cards, hidden hands", ()),
        "leduc_poker": ("workers.games.leduc_poker:LeducPoker", "Leduc poker, six cards, two rounds", ()),
        "openspiel": ("workers.games.openspiel:OpenSpielGame", "Any game of OpenSpiel, by its name", ()),
        "pettingzoo_aec": ("workers.games.pettingzoo:AecGame", "Any turn-based PettingZoo game", ()),
        "pettingzoo_parallel": ("workers.games.pettingzoo:ParallelGame", "Any parallel PettingZoo game", ()),
        "gymnasium": ("workers.games.gymnasium:GymnasiumGame", "Any one-seat Gymnasium environment", ()),
    },
    Kind.MODEL: {
        "mlp": ("workers.models.mlp:Mlp", "Multi-layer perceptron, policy and value", ()),
        "conv": ("workers.models.conv:ConvNet", "Small convolutional residual net for boards", ()),
        "gru": ("workers.models.gru:GruNet", "Recurrent (GRU) net, for hidden information", ()),
    },
    Kind.ALGORITHM: {
        "ppo": ("workers.algorithms.ppo:Ppo", "Proximal policy optimisation with GAE", ()),
        "vtrace": ("workers.algorithms.vtrace:Vtrace", "V-trace (IMPALA), corrects for stale samples", ()),
    },
    Kind.BOT: {
        "random": ("workers.bots.simple:RandomBot", "Any legal move, uniformly", ()),
        "first-legal": ("workers.bots.simple:FirstLegalBot", "The legal move with the lowest number", ()),
        "minimax": ("workers.bots.minimax:MinimaxBot", "Exact play in tic-tac-toe", ()),
        "mcts": ("workers.bots.mcts:MctsBot", "Monte Carlo tree search (OpenSpiel's)", ("simulations",)),
    },
    Kind.MATCHMAKER: {
        "self_play": ("league.matchmaking:self_play", "The latest self only", ()),
        "fictitious": ("league.matchmaking:fictitious", "Uniform over the past", ()),
        "pfsp": ("league.matchmaking:pfsp", "Prioritised by win rate", ()),
        "alphastar": ("league.matchmaking:alphastar", "Mains, main and league exploiters", ()),
        "openai_five": ("league.matchmaking:openai_five", "80 % latest, 20 % past by quality", ()),
        "psro": ("league.matchmaking:psro", "The meta-game's equilibrium over the pool", ()),
    },
}
"""name -> (target, one line for people, the numbers that follow the name)"""


class CatalogError(Exception):
    """A name of the catalog that cannot be used."""


class UnknownName(CatalogError, LookupError):
    """No such name; the message lists what is allowed."""


class AmbiguousName(CatalogError):
    """Two sources claim the same name."""


class BrokenTarget(CatalogError):
    """The name is known, but what it stands for does not import."""


@dataclass(frozen=True, kw_only=True)
class Component:
    """A name of the catalog and the options to make it with."""

    id: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One name of the catalog. `parameters` are the numbers that follow it, as in `mcts-100`."""

    kind: Kind
    name: str
    target: str
    description: str
    source: str
    parameters: tuple[str, ...] = ()

    @property
    def pattern(self) -> str:
        """How the name is written: `mcts-<simulations>`."""
        return "-".join([self.name, *(f"<{parameter}>" for parameter in self.parameters)])


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """An entry and the options its name itself carries: `mcts-100` is `mcts` with 100 simulations."""

    entry: Entry
    options: Mapping[str, int | float]


def names(kind: Kind) -> dict[str, Entry]:
    """Every name of the kind, built-ins first, without importing any target."""
    return {name: claims[0] for name, claims in _claims(kind).items()}


def resolve(kind: Kind, name: str) -> Resolved:
    """The entry a name stands for, unimported; raises UnknownName or AmbiguousName."""
    if _IMPORT_PATH.fullmatch(name):
        entry = Entry(kind=kind, name=name, target=name, description="import path", source="import path")
        return Resolved(entry=entry, options={})
    claims = _claims(kind)
    numbers = _NUMBERS.search(name)
    base = name if name in claims or numbers is None else name[: numbers.start()]
    if base not in claims:
        raise UnknownName(_unknown(kind, name))
    entry, *others = claims[base]
    if others:
        sources = " and ".join(claim.source for claim in claims[base])
        raise AmbiguousName(f"{kind} {base!r} is claimed by {sources}: rename or remove one")
    given = numbers.group(1).split("-") if numbers is not None and base != name else []
    if len(given) != len(entry.parameters):
        raise UnknownName(f"{kind} {name!r}: it is written {entry.pattern}")
    options = {key: _number(text) for key, text in zip(entry.parameters, given, strict=True)}
    return Resolved(entry=entry, options=options)


def load(kind: Kind, name: str) -> Any:
    """Import what the name stands for. Options in the name (`mcts-100`) come from `resolve`."""
    entry = resolve(kind, name).entry
    module, _, attribute = entry.target.partition(":")
    try:
        target: Any = importlib.import_module(module)
        for part in attribute.split("."):
            target = getattr(target, part)
    except (ImportError, AttributeError) as error:
        raise BrokenTarget(f"{kind} {name!r} ({entry.target}) does not import: {error}") from error
    return target


def describe() -> dict[str, list[dict[str, str]]]:
    """The whole catalog for people and the API: per kind, how to write each name and what it is."""
    return {
        f"{kind}s": [
            {"name": entry.pattern, "description": entry.description, "source": entry.source}
            for entry in names(kind).values()
        ]
        for kind in Kind
    }


@cache
def _claims(kind: Kind) -> dict[str, tuple[Entry, ...]]:
    """Who claims each name: the built-ins first, then third parties by their entry points."""
    claims: dict[str, tuple[Entry, ...]] = {
        name: (
            Entry(kind=kind, name=name, target=target, description=text, source="built-in", parameters=given),
        )
        for name, (target, text, given) in _BUILT_INS[kind].items()
    }
    for point in entry_points(group=kind.group):
        owner = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        entry = Entry(
            kind=kind, name=point.name, target=point.value, description=f"from {owner}", source=owner
        )
        claims[point.name] = (*claims.get(point.name, ()), entry)
    return claims


def _unknown(kind: Kind, name: str) -> str:
    known = names(kind)
    nearest = difflib.get_close_matches(name, known, n=1)
    hint = f", did you mean {known[nearest[0]].pattern!r}?" if nearest else "."
    allowed = ", ".join(sorted(entry.pattern for entry in known.values()))
    return f"unknown {kind} {name!r}{hint} Allowed: {allowed}, or an import path module:attr"


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)
