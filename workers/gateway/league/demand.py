"""What a crew or a match asks of gateways: a collection of experience, or games between given players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from league.types import CheckpointRef
from orchestrator.catalog import Component
from workers.gateway.league.frames import Frame
from workers.rollout.seating import LEARNER

_WEIGHT = "weight/"


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """A version by its checkpoint, or a bot by its name."""

    name: str
    """The version's id."""
    player: str = ""
    """The name that people read."""
    checkpoint: CheckpointRef | None = None
    bot: str | None = None

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Contestant:
        ref = given.get("checkpoint")
        return cls(**{**given, "checkpoint": None if ref is None else CheckpointRef(**ref)})


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What the learner decides with from now on."""

    arrays: Mapping[str, NDArray[Any]]
    update: int
    explore: float = 0.0
    raw_images: bool = False

    def frame(self, collection: str) -> Frame:
        fields = {"id": collection, "update": self.update, "explore": self.explore, "raw_images": self.raw_images}
        return Frame("weights", fields, {f"{_WEIGHT}{name}": array for name, array in self.arrays.items()})

    @classmethod
    def from_frame(cls, frame: Frame) -> Weights:
        arrays = {name.removeprefix(_WEIGHT): a for name, a in frame.arrays.items() if name.startswith(_WEIGHT)}
        given = {name: frame.fields[name] for name in ("update", "explore", "raw_images")}
        return cls(arrays=arrays, **given)


@dataclass(frozen=True, kw_only=True)
class Demand:
    """A generation's demand for experience."""

    id: str
    game: Component
    model: Component
    algorithm: Component
    seed: int
    owner: NDArray[np.int64]
    """[matchups, seats]: who sits where, as `Seating.owner`; sessions are spread evenly over the matchups."""
    mates: NDArray[np.int64] | None = None
    """[matchups]: the mate's number; None where no matchup has one."""
    opponents: Sequence[Contestant] = ()
    mate_players: Sequence[Contestant] = ()
    window: int = 1 << 20
    """Decisions that a gateway may send before it hears that some were taken; what is more is dropped."""
    info: Mapping[str, Any] = field(default_factory=dict)
    """What agents are told: trial, player, version, generation."""
    part: int = 0
    """Where this gateway begins in the order of matchups."""

    def frame(self, part: int) -> Frame:
        fields = {
            "id": self.id,
            "game": _component(self.game),
            "model": _component(self.model),
            "algorithm": _component(self.algorithm),
            "seed": self.seed,
            "opponents": [asdict(each) for each in self.opponents],
            "mate_players": [asdict(each) for each in self.mate_players],
            "window": self.window,
            "info": dict(self.info),
            "part": part,
        }
        arrays = {"owner": self.owner}
        return Frame("collect", fields, arrays if self.mates is None else {**arrays, "mates": self.mates})

    @classmethod
    def from_frame(cls, frame: Frame) -> Demand:
        given = dict(frame.fields)
        for name in ("game", "model", "algorithm"):
            given[name] = Component(**given[name])
        for name in ("opponents", "mate_players"):
            given[name] = [Contestant.from_json(each) for each in given[name]]
        return cls(**given, owner=frame.arrays["owner"], mates=frame.arrays.get("mates"))

    def rated(self, teams: int) -> NDArray[np.bool_]:
        """[matchups]: whether a game has a result: the learner does not play all of several teams."""
        return np.asarray((self.owner != LEARNER).any(axis=1) | (teams == 1))


@dataclass(frozen=True, kw_only=True)
class OrderedGame:
    """One game of a match."""

    game: int
    """Its number in the match."""
    seating: tuple[int, ...]
    """The entrant in each seat."""
    seed: int


@dataclass(frozen=True, kw_only=True)
class GameOrder:
    """Games between given players, to be played on whatever gamecores ask for them."""

    id: str
    game: Component
    entrants: Sequence[Contestant]
    sampled: bool = True
    """Whether policies draw from their probabilities, or play their best action."""
    info: Mapping[str, Any] = field(default_factory=dict)

    def frame(self) -> Frame:
        fields = {
            "id": self.id,
            "game": _component(self.game),
            "entrants": [asdict(each) for each in self.entrants],
            "sampled": self.sampled,
            "info": dict(self.info),
        }
        return Frame("order", fields)

    @classmethod
    def from_frame(cls, frame: Frame) -> GameOrder:
        given = dict(frame.fields)
        given["game"] = Component(**given["game"])
        given["entrants"] = [Contestant.from_json(each) for each in given["entrants"]]
        return cls(**given)


def games_frame(order: str, games: Sequence[OrderedGame]) -> Frame:
    """Further games of an order."""
    return Frame("games", {"id": order, "games": [[each.game, list(each.seating), each.seed] for each in games]})


def games_of(frame: Frame) -> list[OrderedGame]:
    """The games of a frame."""
    return [OrderedGame(game=game, seating=tuple(seating), seed=seed) for game, seating, seed in frame.fields["games"]]


def _component(given: Component) -> dict[str, Any]:
    return {"id": given.id, "options": dict(given.options)}
