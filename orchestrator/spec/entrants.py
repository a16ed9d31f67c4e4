"""Entrants of a tournament, as people write them: `rule[:argument][@trial][ with search-n]`."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from enum import StrEnum

from orchestrator.catalog import CatalogError, Kind, resolve
from orchestrator.searching import MOST_SIMULATIONS
from orchestrator.spec.section import one_of
from orchestrator.spec.values import NAME_PATTERN

EVERY_TRIAL = "*"
_WITH = " with search-"


class Rule(StrEnum):
    """How entrants are found."""

    LATEST = "latest"
    """The newest version of each learning player, or of the one named."""
    SNAPSHOTS = "snapshots"
    """Every snapshot, or those of the player named."""
    EVERY = "every"
    """Every n-th version of each learning player: `every:5`, or of one: `every:5/main`."""
    BOTS = "bots"
    """The bots of the trial."""
    ALIAS = "alias"
    """The version that an alias of the project names: `alias:champion`."""
    BOT = "bot"
    """A bot of the catalog: `bot:random`."""
    VERSION = "version"
    """One version by its id."""


_NEEDS_ARGUMENT = frozenset({Rule.EVERY, Rule.ALIAS, Rule.BOT, Rule.VERSION})
_OF_TRIAL = frozenset({Rule.LATEST, Rule.SNAPSHOTS, Rule.EVERY, Rule.BOTS})


@dataclass(frozen=True, kw_only=True)
class EntrantRule:
    """One parsed rule."""

    rule: Rule
    argument: str = ""
    """A player, an alias, a bot or a version."""
    every: int = 1
    trial: str | None = None
    """Another trial of the project by its name, or `*` for all that play the game; None: the tournament's own."""
    search: int | None = None
    """Simulations a move, for versions that enter with tree search; None: by the network alone."""


def parse_entrant(text: str, *, known: bool = True) -> EntrantRule:
    """Parse a rule; raises ValueError with what is allowed.

    With `known`, bots are looked up in the catalog. A stored tournament is read without: its plug-in may be gone.
    """
    whole, _, search = text.partition(_WITH)
    simulations = _simulations(search, text) if _WITH in text else None
    body, at, trial = whole.partition("@")
    if body.startswith(("bot:", "version:", "alias:")):
        body, at, trial = whole, "", ""  # these take no trial: they name one thing of the project
    word, _, argument = body.partition(":")
    rule = _rule(word, text)
    if (rule in _NEEDS_ARGUMENT) and not argument:
        raise ValueError(f"{text!r}: needs an argument after the colon, as in {_EXAMPLES[rule]}")
    if at and trial != EVERY_TRIAL and re.fullmatch(NAME_PATTERN, trial) is None:
        raise ValueError(f"{text!r}: after @ comes a trial's name, or * for every trial of the game")
    every = 1
    if rule is Rule.EVERY:
        count, _, argument = argument.partition("/")
        if not count.isascii() or not count.isdigit() or not 1 <= int(count) <= 1_000_000:
            raise ValueError(f"{text!r}: needs a whole number from 1 on, as in {_EXAMPLES[rule]}")
        every = int(count)
    if rule is Rule.BOTS and argument:
        raise ValueError(f"{text!r}: `bots` takes no argument; a single bot is {_EXAMPLES[Rule.BOT]}")
    if simulations is not None and rule in (Rule.BOT, Rule.BOTS):
        raise ValueError(f"{text!r}: only versions search, bots do not; leave `{_WITH.strip()}...` out")
    if rule is Rule.BOT and known:
        _look_up(argument)
    if rule is Rule.VERSION:
        argument = _version_id(argument)
    return EntrantRule(rule=rule, argument=argument, every=every, trial=trial or None, search=simulations)


def _simulations(search: str, text: str) -> int:
    if not search.isascii() or not search.isdigit() or not 1 <= int(search) <= MOST_SIMULATIONS:
        raise ValueError(f"{text!r}: after `{_WITH.strip()}` comes a number of simulations up to {MOST_SIMULATIONS:,}")
    return int(search)


def written(entrant: object) -> object:
    """An entrant given as a mapping, `{version: <id>, search: 200}`, as text; anything else as it is."""
    if not isinstance(entrant, dict) or not entrant.keys() - {"search"} <= {"version", "alias", "latest"}:
        return entrant
    (rule, argument), *more = [(key, value) for key, value in entrant.items() if key != "search"] or [("", "")]
    if more or not rule:
        return entrant
    searching = f"{_WITH}{entrant['search']}" if "search" in entrant else ""
    return f"{rule}:{argument}{searching}"


def _rule(word: str, text: str) -> Rule:
    if "+" in word:
        raise ValueError(
            f"{text!r}: a line-up of several players cannot enter; an entrant is one version, which takes a whole "
            "team. Results and ratings of mixed line-ups are at /api/v1/trials/{trial_id}/payoff/lineups"
        )
    if word not in set(Rule):
        raise ValueError(f"{text!r}: the word before the colon {one_of(word, [rule.value for rule in Rule])}")
    return Rule(word)


_EXAMPLES = {
    Rule.EVERY: "every:5 or every:5/main",
    Rule.ALIAS: "alias:champion",
    Rule.BOT: "bot:random",
    Rule.VERSION: "version:<id>",
}


def _look_up(bot: str) -> None:
    try:
        resolve(Kind.BOT, bot)
    except CatalogError as error:
        raise ValueError(str(error)) from None


def _version_id(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise ValueError(f"{text!r} is not the id of a version") from None
