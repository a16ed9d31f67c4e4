"""The input of a matchmaker: the learner, the roster of the league's players, and the payoff."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from league.errors import InvalidInput, UnknownPlayer
from league.payoff import PayoffView
from league.types import PlayerId, Role
from league.validation import Floats

Indices = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class Member:
    """One player of the roster. A snapshot's `parent` is the learning player that it is a copy of."""

    id: PlayerId
    role: Role
    created: int = 0
    """Order of creation in the trial, such as the commit number."""
    parent: PlayerId | None = None
    active: bool = True
    """False for a retired player, which stays on the roster as a parent but is never chosen."""
    name: str = ""
    """What reasons call it; the id where it has none."""

    @property
    def called(self) -> str:
        """The player in words."""
        return self.name or str(self.id)


class Roster:
    """The players of a league with the lookups that rules need; positions are indices into `ids`."""

    def __init__(self, members: Iterable[Member]) -> None:
        self.members = tuple(members)
        self.ids: tuple[PlayerId, ...] = tuple([member.id for member in self.members])
        self._position = {player: index for index, player in enumerate(self.ids)}
        if len(self._position) != len(self.ids):
            doubled = next(player for index, player in enumerate(self.ids) if self._position[player] != index)
            raise InvalidInput(f"player {doubled!r} is on the roster twice")

    def __len__(self) -> int:
        return len(self.ids)

    def position(self, player: PlayerId) -> int:
        """The player's index in `ids`."""
        try:
            return self._position[player]
        except KeyError:
            raise UnknownPlayer(player, "the roster") from None

    def member(self, player: PlayerId) -> Member:
        """The player's entry."""
        return self.members[self.position(player)]

    def of_role(self, role: Role) -> Indices:
        """Active players of a role, in roster order."""
        return _indices(i for i, member in enumerate(self.members) if member.role == role and member.active)

    @cached_property
    def historical(self) -> Indices:
        """All active frozen players, in roster order."""
        return self.of_role(Role.HISTORICAL)

    def snapshots_of(self, parents: Iterable[PlayerId]) -> Indices:
        """Active snapshots of any of these players, oldest first."""
        wanted = set(parents)
        found = [i for i in self.historical.tolist() if self.members[i].parent in wanted]
        return _indices(sorted(found, key=lambda i: self.members[i].created))

    def snapshots_of_role(self, role: Role) -> Indices:
        """Active snapshots of players of a role, retired players included, oldest first."""
        return self.snapshots_of(member.id for member in self.members if member.role == role)


@dataclass(frozen=True, kw_only=True)
class Request:
    """The input of a matchmaker, as plain values."""

    learner: PlayerId
    roster: Sequence[Member]
    payoff: PayoffView
    options: Mapping[str, Any] = field(default_factory=dict)
    payoff_revision: int = 0
    qualities: Mapping[PlayerId, float] = field(default_factory=dict)
    """The quality of each snapshot; only `openai_five` uses it."""

    @cached_property
    def players(self) -> Roster:
        """The roster, indexed."""
        return Roster(self.roster)

    @cached_property
    def win_rates(self) -> Floats:
        """The learner's win rate against every player of the roster."""
        return self.payoff.win_rates(self.learner, self.players.ids)

    def past(self, pool: str, *, include_bots: bool = False) -> Indices:
        """The frozen players a rule draws from: of the whole league (`all`) or the learner's `own`."""
        if pool == "own":
            found = self.players.snapshots_of([self.learner])
        elif pool == "all":
            found = self.players.historical
        else:
            raise InvalidInput(f"pool must be 'all' or 'own', got {pool!r}")
        return np.concatenate([found, self.players.of_role(Role.BOT)]) if include_bots else found


def _indices(positions: Iterable[int]) -> Indices:
    return np.array(list(positions), dtype=np.intp)
