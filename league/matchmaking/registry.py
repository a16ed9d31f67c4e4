"""The built-in matchmakers by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from league.errors import InvalidInput, UnknownRule
from league.matchmaking.alphastar import alphastar
from league.matchmaking.fixed import fixed
from league.matchmaking.mixture import Mixture
from league.matchmaking.openai_five import openai_five
from league.matchmaking.psro import psro
from league.matchmaking.roster import Request
from league.matchmaking.self_play import fictitious, prioritised, self_play


class Matchmaker(Protocol):
    """A matchmaking rule: a pure function from a request to a mixture of opponents."""

    def __call__(self, request: Request, /) -> Mixture:
        """The mixture for this request."""


BUILT_INS: Final[dict[str, Matchmaker]] = {
    "self_play": self_play,
    "fictitious": fictitious,
    "pfsp": prioritised,
    "alphastar": alphastar,
    "openai_five": openai_five,
    "psro": psro,
    "fixed": fixed,
}


def matchmaker(name: str, extra: Mapping[str, Matchmaker] | None = None) -> Matchmaker:
    """A matchmaker by name: a built-in, or one of `extra`."""
    known = {**(extra or {}), **BUILT_INS}
    if name not in known:
        raise UnknownRule("matchmaker", name, known)
    return known[name]


def mix(name: str, request: Request, extra: Mapping[str, Matchmaker] | None = None) -> Mixture:
    """The mixture of the named rule for a learner that is on the roster and learns."""
    rule = matchmaker(name, extra)
    role = request.players.member(request.learner).role
    if not role.learns:
        raise InvalidInput(f"{request.learner!r} is {role}: it does not learn, so it has no opponents")
    return rule(request)
