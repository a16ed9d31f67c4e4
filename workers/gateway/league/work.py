"""What a gateway has been asked to play: collections of a generation's experience, and the games of matches."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from orchestrator.catalog import Component
from orchestrator.user_code.code_archives import plain_name
from workers.games.protocol import GameSpec
from workers.games.seeding import mix
from workers.gateway.contract import Cast, Episode, Model, SeatCast, SessionResult
from workers.gateway.league.demand import Contestant, Demand, GameOrder, OrderedGame
from workers.gateway.league.episodes import episodes_frame
from workers.gateway.league.frames import Frame
from workers.gateway.recording.options import kept_games
from workers.rollout.seating import LEARNER, MATE

Send = Callable[[Frame], None]
"""Sends a frame to whoever asked for the work; must not raise."""
_GOLDEN = (5**0.5 - 1) / 2
_SEEDS = 21  # separates the seeds of sessions from other draws on the same seed
MOST_ROWS = 4096
"""Decisions that wait to be sent together, at most."""


SeatedModels = Sequence[Model | None]
"""A player's model in each seat; None where the game plays by itself."""


@dataclass(slots=True)
class Assignment:
    """What a session is for."""

    work: Work
    slot: int
    """The matchup of a collection, or the number of an ordered game."""
    outside: dict[int, str]
    """Seats that the game is to play by itself, and who plays there."""

    def unplanned(self, result: SessionResult) -> str | None:
        """What is wrong with who played, in words."""
        for seat, name in result.outside.items():
            planned = self.outside.get(seat)
            if planned is None:
                return f"the game says that {name!r} played seat {seat}, which was not its to play"
            if name and name != planned:
                return f"the game says that {name!r} played seat {seat}; planned was {planned!r}"
        return None


class Work(ABC):
    """Something to play, for one peer; it ends with the peer's connection."""

    closing = False
    """Whether sessions under way are the last."""

    def __init__(self, id: str, game: Component, name: str, spec: GameSpec, agents: Any, send: Send) -> None:
        self.id, self.name, self.spec, self.agents = id, name, spec, agents
        """`agents` are what the runner of a session takes, `name` is the game's."""
        played = json.dumps([game.options.get(key) for key in ("spec", "agent")], sort_keys=True, default=str)
        self.played = plain_name(played)
        """What the processes of the game must agree with: its spec and its agent, whichever edition of its code."""
        self._send = send
        self.running: dict[str, int] = {}
        """Sessions under way, each with its slot."""
        self.withdrawn = False

    @property
    def ending(self) -> bool:
        """Whether no session will ever start again."""
        return self.closing or self.withdrawn

    @property
    @abstractmethod
    def wanted(self) -> bool:
        """Whether another session may start."""

    @abstractmethod
    def cast(self, session: str, slot: int | None = None) -> Cast:
        """Who plays this session, which starts now."""

    @abstractmethod
    def finished(self, session: str, slot: int, result: SessionResult) -> None:
        """A session ended with this result."""

    @abstractmethod
    def aborted(self, session: str, slot: int, reason: str) -> None:
        """A session has no result."""

    @abstractmethod
    def episode(self, slot: int, episode: Episode) -> None:
        """Take experience; only collections want it."""

    @abstractmethod
    def flush(self) -> None:
        """Send what waits."""


class Collection(Work):
    """A generation's demand for experience, as this gateway serves it."""

    def __init__(
        self,
        demand: Demand,
        name: str,
        spec: GameSpec,
        agents: Any,
        send: Send,
        learner: Model,
        opponents: Sequence[SeatedModels],
        mates: Sequence[SeatedModels],
    ) -> None:
        super().__init__(demand.id, demand.game, name, spec, agents, send)
        self.learner = learner
        self.nets: Any = None
        """The networks that the learner decides with."""
        self._demand, self._opponents, self._mates = demand, opponents, mates
        matchups = len(demand.owner)
        self._rated = demand.rated(spec.team_count)
        self._stride = _coprime(round(matchups * _GOLDEN), matchups)
        self._begun = demand.part * 7919
        self._episodes: list[Episode] = []
        self._waiting_rows = self._sent = self._taken = self._dropped = 0
        self._results: list[dict[str, Any]] = []
        self._aborted: list[str] = []

    @property
    def wanted(self) -> bool:
        return not self.ending

    @property
    def version(self) -> str:
        """The version that the generation starts from."""
        return str(self._demand.info.get("version", ""))

    @property
    def rows(self) -> int:
        """Decisions for the crew since the collection began, without those that were dropped."""
        return self._sent + self._waiting_rows

    @property
    def outstanding(self) -> int:
        """Decisions that the crew has not taken yet."""
        return self.rows - self._taken

    def cast(self, session: str, slot: int | None = None) -> Cast:
        demand, number = self._demand, self._begun
        self._begun += 1
        matchup = number * self._stride % len(demand.owner)
        self.running[session] = matchup
        seats = [self._seat(matchup, seat, owner) for seat, owner in enumerate(demand.owner[matchup].tolist())]
        return Cast(
            spec=self.spec,
            seats=seats,
            seed=int(mix(demand.seed, number, _SEEDS).item()) >> 11,
            info={**demand.info, **kept_games(demand.game), "purpose": "training"},
            key=Assignment(self, matchup, _outside(seats)),
        )

    def _seat(self, matchup: int, seat: int, owner: int) -> SeatCast:
        demand = self._demand
        if owner == LEARNER:
            return SeatCast(str(demand.info.get("version", "learner")), self.learner, learning=True)
        if owner == MATE:
            assert demand.mates is not None
            number = int(demand.mates[matchup])
            return _seat_of(demand.mate_players[number], self._mates[number][seat])
        return _seat_of(demand.opponents[owner], self._opponents[owner][seat])

    def episode(self, slot: int, episode: Episode) -> None:
        rows = len(episode.columns["action"])
        if self.withdrawn or self.closing or not rows:
            return
        if self.outstanding >= self._demand.window:
            self._dropped += rows
            return
        self._episodes.append(episode)
        self._waiting_rows += rows
        if self._waiting_rows >= MOST_ROWS:
            self.flush()

    def taken(self, rows: int) -> None:
        """The crew has taken this many decisions since the collection began."""
        self._taken = rows

    def finished(self, session: str, slot: int, result: SessionResult) -> None:
        self.running.pop(session, None)
        self._results.append({"matchup": slot, **_described(result)})

    def aborted(self, session: str, slot: int, reason: str) -> None:
        self.running.pop(session, None)
        self._aborted.append(reason)

    def flush(self) -> None:
        """Send episodes first: a result that has arrived means that its experience has."""
        if self._episodes:
            self._send(episodes_frame(self.id, self._episodes))
            self._sent += self._waiting_rows
            self._episodes, self._waiting_rows = [], 0
        if self._results or self._aborted or self.closing:
            self.report()

    def report(self) -> None:
        """Send results, and how many sessions with a result are under way."""
        fields = {
            "id": self.id,
            "results": self._results,
            "aborted": self._aborted,
            "running": sum(bool(self._rated[matchup]) for matchup in self.running.values()),
            "dropped": self._dropped,
            "closing": self.closing,
        }
        self._send(Frame("results", fields))
        self._results, self._aborted, self._dropped = [], [], 0


class OpenOrder(Work):
    """Games between given players, as far as this gateway has got them."""

    def __init__(
        self, order: GameOrder, name: str, spec: GameSpec, agents: Any, send: Send, entrants: Sequence[SeatedModels]
    ) -> None:
        super().__init__(order.id, order.game, name, spec, agents, send)
        self._order, self._entrants = order, entrants
        self._queue: deque[OrderedGame] = deque()
        self._games: dict[int, OrderedGame] = {}

    @property
    def wanted(self) -> bool:
        return bool(self._queue) and not self.withdrawn

    @property
    def waiting(self) -> int:
        """Games that no gamecore has asked for yet."""
        return len(self._queue)

    def add(self, games: Sequence[OrderedGame]) -> None:
        """Play these games too."""
        self._queue.extend(games)

    def reserve(self) -> OrderedGame:
        """The next game, for a gamecore that has asked for it and not started it yet."""
        game = self._queue.popleft()
        self._games[game.game] = game
        return game

    def give_back(self, game: int) -> None:
        """A reserved game was not started in time."""
        if (found := self._games.pop(game, None)) is not None:
            self._queue.appendleft(found)

    def recall(self) -> None:
        """Hand back the games that nobody has started."""
        games = [each.game for each in self._queue]
        self._queue.clear()
        self._send(Frame("unplayed", {"id": self.id, "games": games, "reason": ""}))

    def cast(self, session: str, slot: int | None = None) -> Cast:
        game = self.reserve() if slot is None else self._games[slot]
        self.running[session] = game.game
        self._send(Frame("begun", {"id": self.id, "game": game.game}))
        players, models = self._order.entrants, self._entrants
        seats = [_seat_of(players[entrant], models[entrant][seat]) for seat, entrant in enumerate(game.seating)]
        return Cast(
            spec=self.spec,
            seats=seats,
            seed=game.seed,
            info={**self._order.info, **kept_games(self._order.game), "purpose": "match"},
            key=Assignment(self, game.game, _outside(seats)),
        )

    def episode(self, slot: int, episode: Episode) -> None:
        """Nobody learns in a match."""

    def flush(self) -> None:
        """Nothing waits: each game is reported at once."""

    def finished(self, session: str, slot: int, result: SessionResult) -> None:
        self.running.pop(session, None)
        self._games.pop(slot, None)
        self._send(Frame("played", {"id": self.id, "game": slot, **_described(result)}))

    def aborted(self, session: str, slot: int, reason: str) -> None:
        self.running.pop(session, None)
        self._games.pop(slot, None)
        self._send(Frame("unplayed", {"id": self.id, "games": [slot], "reason": reason}))


def _seat_of(player: Contestant, model: Model | None) -> SeatCast:
    """A seat; the game knows a player of its own by what follows `outside-`."""
    return SeatCast(player.name if model is not None else str(player.bot).partition("-")[2], model)


def _outside(seats: Sequence[SeatCast]) -> dict[int, str]:
    return {number: seat.name for number, seat in enumerate(seats) if seat.model is None}


def _described(result: SessionResult) -> dict[str, Any]:
    return {
        "returns": [float(each) for each in result.returns],
        "ticks": int(result.ticks),
        "truncated": bool(result.truncated),
        "outside": {str(seat): name for seat, name in result.outside.items()},
        "metrics": {name: float(value) for name, value in result.metrics.items()},
    }


def _coprime(near: int, of: int) -> int:
    """The number at or above `near`, at least 1, that shares no factor with `of`: its multiples visit every place."""
    while gcd(max(1, near), of) != 1:
        near += 1
    return max(1, near)
