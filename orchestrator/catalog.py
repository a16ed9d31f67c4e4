"""The catalog of what a trial may name: games, models, algorithms, bots and matchmakers, as name -> `module:attr`.

Built-ins are listed in one table: a built-in game is a class in `workers/games/builtin/` and one row here
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
from types import MappingProxyType
from typing import Any, NamedTuple

from orchestrator.makers import described, makes

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
"""The source of names of the form `module:attr`: code that whoever sends a trial chooses."""


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


class _BuiltIn(NamedTuple):
    target: str
    description: str
    options: Mapping[str, Any] = MappingProxyType({})
    opening_plies: int | None = None
    """See `Entry.opening_plies`."""


_BUILT_INS: Mapping[Kind, Mapping[str, _BuiltIn]] = {
    Kind.GAME: {
        "connect_four": _BuiltIn(
            "workers.games.builtin.connect_four:ConnectFour", "Connect four, 7 columns by 6 rows", opening_plies=4
        ),
        "tic_tac_toe": _BuiltIn("workers.games.builtin.tic_tac_toe:TicTacToe", "Tic-tac-toe, 3 by 3", opening_plies=2),
        "rock_paper_scissors": _BuiltIn(
            "workers.games.builtin.rock_paper_scissors:RockPaperScissors",
            "Rock, paper, scissors; both seats choose at once",
            opening_plies=0,
        ),
        "kuhn_poker": _BuiltIn(
            "workers.games.builtin.kuhn_poker:KuhnPoker", "Kuhn poker, three cards, hidden hands", opening_plies=0
        ),
        "leduc_poker": _BuiltIn(
            "workers.games.builtin.leduc_poker:LeducPoker", "Leduc poker, six cards, two rounds", opening_plies=0
        ),
        "two_step": _BuiltIn(
            "workers.games.builtin.two_step:TwoStep",
            "Two-step matrix game of the QMIX paper, two mates",
            opening_plies=0,
        ),
        "signals": _BuiltIn(
            "workers.games.builtin.signals:Signals", "Two mates that each must name the other's number", opening_plies=0
        ),
        "soccer": _BuiltIn(
            "workers.games.builtin.soccer:Soccer", "Soccer on a small grid, two against two", opening_plies=0
        ),
        "openspiel": _BuiltIn("workers.games.adapters.openspiel:OpenSpielGame", "Any game of OpenSpiel, by its name"),
        "pettingzoo_aec": _BuiltIn("workers.games.adapters.pettingzoo:AecGame", "Any turn-based PettingZoo game"),
        "pettingzoo_parallel": _BuiltIn(
            "workers.games.adapters.pettingzoo:ParallelGame", "Any parallel PettingZoo game", opening_plies=0
        ),
        "gymnasium": _BuiltIn(
            "workers.games.adapters.gymnasium:GymnasiumGame", "Any one-seat Gymnasium environment", opening_plies=0
        ),
        "envpool": _BuiltIn(
            "workers.games.adapters.envpool:EnvPoolGame",
            "Any one-player environment of EnvPool, in C++",
            opening_plies=0,
        ),
    },
    Kind.MODEL: {
        "mlp": _BuiltIn("workers.models.mlp:Mlp", "Multi-layer perceptron, policy and value"),
        "conv": _BuiltIn("workers.models.conv:ConvNet", "Small convolutional residual net for boards"),
        "nature": _BuiltIn("workers.models.nature:NatureNet", "Convolutional net of Mnih et al. 2015, for images"),
        "gru": _BuiltIn("workers.models.gru:GruNet", "Recurrent (GRU) net, for hidden information"),
    },
    Kind.ALGORITHM: {
        "ppo": _BuiltIn("workers.algorithms.actor_critic.ppo:Ppo", "Proximal policy optimisation with GAE"),
        "vtrace": _BuiltIn(
            "workers.algorithms.actor_critic.vtrace:Vtrace", "V-trace (IMPALA), corrects for stale samples"
        ),
        "a2c": _BuiltIn("workers.algorithms.actor_critic.a2c:A2c", "Advantage actor-critic, one pass a batch"),
        "impala": _BuiltIn("workers.algorithms.actor_critic.impala:Impala", "IMPALA: V-trace for asynchronous crews"),
        "upgo": _BuiltIn(
            "workers.algorithms.actor_critic.upgo:Upgo", "AlphaStar's update: V-trace, upgoing returns, TD(lambda)"
        ),
        "mmd": _BuiltIn(
            "workers.algorithms.actor_critic.mmd:Mmd", "Magnetic mirror descent, for equilibria of two-player games"
        ),
        "ddpg": _BuiltIn("workers.algorithms.continuous.ddpg:Ddpg", "Deep deterministic policy gradients"),
        "td3": _BuiltIn("workers.algorithms.continuous.td3:Td3", "Twin delayed deterministic policy gradients"),
        "sac": _BuiltIn("workers.algorithms.continuous.sac:Sac", "Soft actor-critic with a learnt temperature"),
        "es": _BuiltIn("workers.algorithms.evolution.es:Es", "Evolution strategies: perturbed weights, no gradients"),
        "vdn": _BuiltIn("workers.algorithms.cooperative.vdn:Vdn", "Value decomposition networks, for teams"),
        "qmix": _BuiltIn("workers.algorithms.cooperative.qmix:Qmix", "QMIX, monotonic mixing of values, for teams"),
        "coma": _BuiltIn("workers.algorithms.cooperative.coma:Coma", "Counterfactual policy gradients, for teams"),
        "mappo": _BuiltIn("workers.algorithms.cooperative.mappo:Mappo", "PPO with a central critic, for teams"),
        "atoc": _BuiltIn("workers.algorithms.cooperative.atoc:Atoc", "Attentional communication, for teams that talk"),
        "dqn": _BuiltIn(
            "workers.algorithms.value_based.dqn:Dqn", "Deep Q-learning; double, dueling, n-step, prioritised"
        ),
        "rainbow": _BuiltIn(
            "workers.algorithms.value_based.rainbow:Rainbow", "Rainbow: C51 with noisy layers, dueling and priorities"
        ),
        "qrdqn": _BuiltIn("workers.algorithms.value_based.qrdqn:Qrdqn", "Quantile-regression DQN"),
        "r2d2": _BuiltIn("workers.algorithms.value_based.r2d2:R2d2", "Recurrent DQN by sequences with stored states"),
        "sqn": _BuiltIn("workers.algorithms.value_based.sqn:Sqn", "Soft Q-learning (discrete SAC), learnt temperature"),
        "apex": _BuiltIn("workers.algorithms.value_based.apex:Apex", "Ape-X: prioritised replay fed by many actors"),
        "bc": _BuiltIn("workers.algorithms.imitation.bc:Bc", "Behaviour cloning of a data set"),
        "iql": _BuiltIn("workers.algorithms.imitation.iql:Iql", "Implicit Q-learning, offline, from a data set"),
        "sl_rl": _BuiltIn("workers.algorithms.imitation.sl_rl:SlRl", "PPO mixed with imitation of a data set"),
    },
    Kind.BOT: {
        "random": _BuiltIn("workers.bots.fixed_strategies:RandomBot", "Any legal move, uniformly"),
        "first-legal": _BuiltIn("workers.bots.fixed_strategies:FirstLegalBot", "The legal move with the lowest number"),
        "minimax": _BuiltIn("workers.bots.minimax:MinimaxBot", "Exact play in tic-tac-toe"),
        "minimax-random": _BuiltIn(
            "workers.bots.minimax:MinimaxBot", "Exact play in tic-tac-toe, ties at random", {"ties": "random"}
        ),
        "minimax-<skill:number>": _BuiltIn(
            "workers.bots.minimax:MinimaxBot",
            "A best move of tic-tac-toe with this probability, else any",
            {"ties": "random"},
        ),
        "soccer-striker": _BuiltIn("workers.bots.soccer:StrikerBot", "Chases the ball and runs for the goal in soccer"),
        "mcts-<simulations:int>": _BuiltIn("workers.bots.mcts:MctsBot", "Monte Carlo tree search, nothing hidden"),
        "mixed-<probabilities:numbers>": _BuiltIn(
            "workers.bots.fixed_strategies:MixedBot", "A fixed probability for each action"
        ),
        "always-<action:word>": _BuiltIn("workers.bots.fixed_strategies:always", "One action, by name or number"),
    },
    Kind.MATCHMAKER: {
        "self_play": _BuiltIn("league.matchmaking.self_play:self_play", "The latest self only"),
        "fictitious": _BuiltIn("league.matchmaking.self_play:fictitious", "Uniform over the past"),
        "pfsp": _BuiltIn("league.matchmaking.self_play:prioritised", "Prioritised by win rate"),
        "alphastar": _BuiltIn("league.matchmaking.alphastar:alphastar", "Mains, main and league exploiters"),
        "openai_five": _BuiltIn("league.matchmaking.openai_five:openai_five", "80 % latest, 20 % past by quality"),
        "psro": _BuiltIn("league.matchmaking.psro:psro", "The meta-game's equilibrium over the pool"),
    },
}
"""Name -> target. `<simulations:int>` in a name is a number that is passed on as an option."""


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
    """Import what the name stands for. Options in the name (`mcts-100`) come from `resolve`."""
    entry = resolve(kind, name).entry
    module, _, attribute = entry.target.partition(":")
    try:
        target: Any = importlib.import_module(module)
        for part in attribute.split("."):
            target = getattr(target, part)
    except (Exception, SystemExit) as error:  # a user's module may raise anything
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
