"""Versions that are served: a checkpoint's actor, its game's spec and the agent that plays it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from orchestrator.catalog import Component
from workers.algorithms.building import actor_of
from workers.checkpoints import Checkpoint, decode
from workers.games.errors import BadGame
from workers.games.names import make_game
from workers.games.protocol import GameSpec, VectorGame
from workers.inference.policy import Policy
from workers.search.errors import BadSearch
from workers.search.rules import SearchRules
from workers.search.served import SearchingPolicy


class UnservableVersion(ValueError):
    """The version cannot be served; the message says why."""


@dataclass(frozen=True, kw_only=True)
class VersionRecord:
    """What is known of a version without its weights: kept on disk beside them."""

    id: str
    """Its id in the league's records; empty for a file."""
    name: str
    """For people: `player:number`, or a file's name."""
    sha256: str
    revision: int = 0
    """The alias's revision that named it; 0 where no alias did."""

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name, "sha256": self.sha256, "revision": self.revision}


@dataclass(frozen=True, kw_only=True)
class ServedVersion:
    """A version that is ready to play."""

    record: VersionRecord
    game: Component
    spec: GameSpec
    actor: Policy
    checkpoint: Checkpoint

    @property
    def agent(self) -> str | None:
        """The agent (`module:Class`) that the trial named for its game."""
        named = self.game.options.get("agent")
        return str(named) if named else None


def load_version(data: bytes | bytearray, record: VersionRecord, device: str = "cpu") -> ServedVersion:
    """The version that a checkpoint's bytes hold, on the device."""
    checkpoint = decode(data)
    spec = make_game(checkpoint.game.id, 1, **checkpoint.game.options).spec
    actor = actor_of(checkpoint, spec).to(torch.device(device))
    return ServedVersion(record=record, game=checkpoint.game, spec=spec, actor=actor, checkpoint=checkpoint)


def searching(version: ServedVersion, simulations: int) -> ServedVersion:
    """The version, deciding by a tree search with its network; UnservableVersion where it cannot."""

    def make(tables: int) -> VectorGame:
        return make_game(version.game.id, tables, **version.game.options)

    try:
        actor = SearchingPolicy(version.actor, make, SearchRules(simulations=simulations))
    except (BadSearch, BadGame) as error:
        raise UnservableVersion(f"{version.record.name} cannot search: {error}") from error
    record = replace(version.record, name=f"{version.record.name}+search-{simulations}")
    return replace(version, record=record, actor=actor)


def check_same_game(served: ServedVersion, other: ServedVersion) -> None:
    """Raise UnservableVersion unless both see and do the same."""
    for what in ("observation", "action", "seats"):
        one, two = getattr(served.spec, what), getattr(other.spec, what)
        if one != two:
            raise UnservableVersion(
                f"{other.record.name} has the {what} {two} and {served.record.name} {one}: "
                "versions that share sessions need equal ones"
            )
