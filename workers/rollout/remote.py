"""Sampling of games that call in: gateways play them, and what arrives becomes the learner's experience."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import nn

from workers.games.errors import BadGame
from workers.games.protocol import GameSpec
from workers.gateway.league.demand import Demand, Weights
from workers.gateway.league.episodes import episodes_of
from workers.gateway.league.frames import Frame
from workers.gateway.league.links import CONNECTED, LOST, Arrived, Links
from workers.gateway.trajectories import ExperienceQueue
from workers.inference.actor import Rate
from workers.models.contract import sees_raw_images
from workers.rollout.batch import Experience
from workers.rollout.finite import require_finite
from workers.rollout.seating import Seating
from workers.rollout.tally import Counts, TallyBoard
from workers.user_errors import UserCodeError

POLL_SECONDS = 0.05
WINDOW_BATCHES = 2
"""Batches of decisions that may wait for the learner. More would be old when it comes to them."""
PLAY_OUT_LOOKS = 20
FAILURES_IN_A_ROW = 20
"""Sessions that user code ended, one after the other, before a generation gives up; in a match, games aborted for any
reason."""
MOST_AGENT_METRICS = 200
"""Names of metrics that the sessions of a generation may report together; each is recorded with the generation."""
_USER_FAILURE = " failed: "
"""What the reason of a session that its agent ended has."""


@dataclass
class RemoteBoard:
    """Results of sessions, counted by matchup; the agents' metrics are averaged."""

    board: TallyBoard
    metrics: dict[str, tuple[float, int]] = field(default_factory=dict)
    aborted: int = 0
    dropped: int = 0

    def finish(self, result: Mapping[str, Any]) -> None:
        """Count one session."""
        self.board.finish(int(result["matchup"]), np.asarray(result["returns"], np.float64), int(result["ticks"]))
        for name, value in result["metrics"].items():
            total, count = self.metrics.get(name, (0.0, 0))
            self.metrics[name] = total + float(value), count + 1
        if len(self.metrics) > MOST_AGENT_METRICS:
            raise UserCodeError(
                f"agents report more than {MOST_AGENT_METRICS} different metrics, such as {name!r}: the names of "
                "metrics must not differ from session to session"
            )

    def counts(self) -> Counts:
        """See `TallyBoard.counts`."""
        return self.board.counts(
            {
                **{f"agent/{name}": mean for name, mean in self.metrics.items()},
                "aborted_games": (float(self.aborted), 0),
                "dropped_rows": (float(self.dropped), 0),
            }
        )


class RemoteSampler:
    """The interface of `Sampler` for games that call in.

    One batch has a fixed number of decisions, whichever sessions they come from. Gateways play on while the learner
    trains, so that decisions may be of earlier weights: `Experience.acted_by` says of which.
    """

    def __init__(
        self,
        *,
        links: Links,
        demand: Demand,
        seating: Seating,
        spec: GameSpec,
        nets: nn.Module,
        rows: int,
        steps: int,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """`rows` are the decisions of a batch and `steps` what they count for; `check` raises to end the sampling."""
        links.forget()
        self._links, self._spec, self._nets, self._rows, self._check = links, spec, nets, max(1, rows), check
        self._demand = demand
        self._steps_of_batch = steps
        self._queue = ExperienceQueue(spec)
        self._running: dict[int, int] = {}
        """Sessions with a result that each gateway still plays; only known once the collection closes."""
        self._taken: dict[int, int] = {}
        """Decisions of each gateway that this collection has taken in."""
        self._opened: set[int] = set()
        self._closing = self._over = False
        self._failures = 0
        self._played_out = 0
        self.board = RemoteBoard(TallyBoard(seating))
        self.steps = 0
        self.explore: Rate = 0.0
        self.acted_by = 0

    def collect(self) -> Experience:
        """The next batch; raises NotFinite if a number in it is not finite."""
        try:
            self._push()
            while (batch := self._queue.take(self._rows)) is None:
                self._look()
        except BaseException as error:
            self.drop(f"its generation was given up: {error}")
            raise
        self.steps += self._steps_of_batch
        for link, rows in self._taken.items():
            self._links.send(link, Frame("taken", {"id": self._demand.id, "rows": rows}))
        require_finite(batch, self._spec.id)
        return batch

    def play_out(self, steps: int) -> int:
        """Wait for the sessions with a result that are under way; returns how many are left."""
        if not self._closing:
            self._closing = True
            self._running = dict.fromkeys(self._opened, 1)  # at least 1 until each gateway reports its count
            self._links.send_all(Frame("close", {"id": self._demand.id}))
        try:
            for _ in range(PLAY_OUT_LOOKS):
                if not self._left:
                    break
                self._look()
        except BaseException as error:
            self.drop(f"its generation was given up: {error}")
            raise
        if not self._left:
            self.end()
        return self._left

    def _look(self) -> None:
        """Take in what arrives next."""
        self._check()
        self._take_in(self._links.next(POLL_SECONDS))

    @property
    def _left(self) -> int:
        return sum(self._running.values())

    def end(self) -> None:
        """The generation needs no more; sessions that are under way play on for nothing."""
        if not self._over:
            self._over = True
            self._links.send_all(Frame("end", {"id": self._demand.id}))

    def drop(self, reason: str) -> None:
        """The generation was given up: its sessions are aborted."""
        if not self._over:
            self._over = True
            self._links.send_all(Frame("drop", {"id": self._demand.id, "reason": reason}))

    def _push(self) -> None:
        """Send the present weights, and the demand where a gateway does not have it yet."""
        weights = self._weights()
        for link in self._links.connected:
            self._open(link, weights)

    def _open(self, link: int, weights: Weights) -> None:
        if link not in self._opened:
            self._opened.add(link)
            self._taken[link] = 0
            self._links.send(link, self._demand.frame(part=link))
        self._links.send(link, weights.frame(self._demand.id))

    def _weights(self) -> Weights:
        if not isinstance(self.explore, float | int):
            raise BadGame(f"{self._spec.id}: an algorithm that explores by tables cannot learn a game that calls in")
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in self._nets.state_dict().items()}
        raw = any(sees_raw_images(net) for net in self._nets.children())
        return Weights(arrays=arrays, update=self.acted_by, explore=float(self.explore), raw_images=raw)

    def _take_in(self, arrived: Arrived | None) -> None:
        if arrived is None:
            return
        link, frame = arrived
        if frame.kind == CONNECTED:
            if not self._closing:
                self._open(link, self._weights())
        elif frame.kind == LOST:
            # what it had under way is aborted: it has no result, and its rows are those that arrived
            self._opened.discard(link)
            self._running.pop(link, None)
        elif frame.fields.get("id") == self._demand.id:
            self._take_own(link, frame)

    def _take_own(self, link: int, frame: Frame) -> None:
        match frame.kind:
            case "episodes":
                for episode in episodes_of(frame):
                    self._queue.put(episode)
                self._taken[link] = self._taken.get(link, 0) + int(frame.arrays["lengths"].sum())
                self._failures = 0
            case "results":
                self._results(link, frame.fields)
            case "refused":
                raise UserCodeError(frame.fields["problem"], frame.fields["frames"])

    def _results(self, link: int, fields: Mapping[str, Any]) -> None:
        for result in fields["results"]:
            self.board.finish(result)
            self._failures = 0
        for reason in fields["aborted"]:
            self.board.aborted += 1
            self._failures += is_user_failure(reason)
            if self._failures >= FAILURES_IN_A_ROW:
                raise UserCodeError(f"{self._failures} games in a row were aborted; the last: {reason}")
        self.board.dropped += int(fields["dropped"])
        if fields["closing"]:
            self._running[link] = int(fields["running"])


def is_user_failure(reason: str) -> bool:
    """Whether a session ended because its agent raised, as `workers.agents.failures` words it."""
    return _USER_FAILURE in reason


def new_id() -> str:
    """The id of a collection or an order."""
    return uuid.uuid4().hex
