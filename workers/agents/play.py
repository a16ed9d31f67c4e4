"""The state of a session: decisions under way, rewards, episodes and the result."""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workers.agents.codec import Row, SpecCodec
from workers.agents.drive import Wait
from workers.agents.errors import AgentError
from workers.agents.seat import Cut, Decided, SeatState
from workers.gateway.contract import Cast, Model, SessionResult

if TYPE_CHECKING:
    from workers.agents.agent import Agent

LARGEST = 1e30
"""Rewards are summed, and kept as float32: beyond 3.4e38 they would be infinite."""
MOST_METRICS = 100
"""Names of metrics that a session may report."""


class RequestedAction(Wait):
    """An action that a model is asked for."""

    __slots__ = ("_agent", "_cut", "_model", "_play", "_row", "_seat")

    def __init__(
        self, play: SessionPlay, agent: Agent, seat: SeatState, model: Model, row: Decided | None, cut: Cut | None
    ) -> None:
        super().__init__()
        self._play, self._agent, self._seat, self._model = play, agent, seat, model
        self._row, self._cut = row, cut

    def decided(self, answer: Row | Exception) -> None:
        """Called by the model, in the event loop."""
        if self._play.over:
            return
        self._seat.asked -= 1
        error = answer if isinstance(answer, Exception) else None
        action = None
        try:
            if isinstance(answer, Exception):
                self._missed()
            else:
                action = self._taken(answer)
        except Exception as problem:  # what a model returned may be anything
            error = problem
        self.resolve(action, error)

    def _taken(self, answer: Row) -> Any:
        version = answer.pop("acted_by", None)
        row = self._row
        if row is not None:
            row.answer = answer
            row.acted_by = self._model.update if version is None else int(version[0])
        self._seat.remember(self._model, answer)
        self._agent.decision = answer
        if self._cut is not None:
            self._play.emit(self._seat, self._cut)
        return self._play.codec.act(answer["action"][0])

    def _missed(self) -> None:
        """There is no decision: nothing to learn from, and nothing to bootstrap from."""
        if self._row is not None and self._row in self._seat.rows:
            self._seat.rows.remove(self._row)
        if self._cut is not None:
            self._cut.final = None
            self._play.emit(self._seat, self._cut)


class SessionPlay(ABC):
    """The seats of a session, and what its agents may do."""

    __slots__ = (
        "_declared",
        "_metrics",
        "_outside",
        "_seats",
        "_strict",
        "_truncated",
        "_unscored",
        "cast",
        "codec",
        "loop",
        "over",
        "session",
    )

    def __init__(self, session: str, cast: Cast, codec: SpecCodec, loop: asyncio.AbstractEventLoop) -> None:
        self.session, self.cast, self.codec, self.loop = session, cast, codec, loop
        self.over = False
        self._seats: list[SeatState | None] = [None] * len(cast.seats)
        self._declared: NDArray[np.float64] | None = None
        self._unscored = True
        self._truncated = False
        self._outside: dict[int, str] = {}
        self._metrics: dict[str, list[float]] = {}
        self._strict = cast.info.get("purpose") in ("training", "match")
        """Whether the result counts in a league: a game then needs one, and keeps to the spec's `max_steps`."""

    @abstractmethod
    def emit(self, seat: SeatState, cut: Cut) -> None:
        """Hand the decisions of a cut to `on_episode` and to the director."""

    # What agents call

    def forward(
        self, agent: Agent, observation: Any, legal: Any, seat: int | None, model: str | None
    ) -> RequestedAction:
        state = self.seat_of(agent, seat)
        chosen = self._model(state, model)
        shown = self.codec.observe(observation)
        mask = self.codec.legal(legal)
        if mask is not None:
            shown["legal"] = mask
        recalled = state.recalled(chosen)
        if recalled:
            if state.asked:
                raise AgentError(f"seat {state.index}: its recurrent model is deciding; await that decision first")
            shown.update(recalled)
        if self._strict and state.decisions >= self.cast.spec.max_steps:
            raise AgentError(
                f"seat {state.index} has decided {state.decisions} times; a game of {self.cast.spec.id} has at most "
                f"max_steps: {self.cast.spec.max_steps}"
            )
        state.asked += 1
        state.decisions += 1
        row, cut = None, None
        if state.cast.learning and chosen is state.cast.model:
            row, cut = state.begin(shown, agent)
        decision = RequestedAction(self, agent, state, chosen, row, cut)
        chosen.submit(shown, decision.decided)
        return decision

    def override(self, agent: Agent, action: Any, seat: int | None) -> Any:
        state = self.seat_of(agent, seat)
        row = self.codec.row_of(action)
        state.override(row, agent.tick)
        return self.codec.act(row[0])

    def reward(self, agent: Agent, value: float, seat: int | None) -> None:
        state = self.seat_of(agent, seat)
        state.earn(finite(value, "a reward"))
        self._unscored = False

    def result(self, returns: float | Sequence[float] | Mapping[int, float]) -> None:
        seats = range(len(self.cast.seats))
        if isinstance(returns, int | float):
            returns = [returns]
        named = returns if isinstance(returns, Mapping) else dict(enumerate(returns))
        if set(named) != set(seats):
            raise AgentError(f"result needs a return for each of the {len(seats)} seats, not {returns!r}")
        self._declared = np.array([finite(named[seat], "a return") for seat in seats], np.float64)

    def truncate(self, agent: Agent, observation: Any, legal: Any, seat: int | None) -> None:
        self._truncated = True
        if observation is None:
            return
        state = self.seat_of(agent, seat)
        shown = self.codec.observe(observation)
        mask = self.codec.legal(legal)
        if mask is not None:
            shown["legal"] = mask
        state.final = Decided(shown)

    def played_by(self, seat: int, name: str) -> None:
        self._checked_seat(seat)
        state = self._seats[seat]
        if self.cast.seats[seat].learning or (state is not None and state.decisions):
            raise AgentError(f"seat {seat} was played by {self.cast.seats[seat].name}, not by the game itself")
        self._outside[seat] = str(name)

    def metric(self, name: str, value: float) -> None:
        number = finite(value, f"metric {name!r}")
        found = self._metrics.get(name)
        if found is not None:
            found[0] += number
            found[1] += 1.0
            return
        if not isinstance(name, str) or not 0 < len(name) <= 100 or not name.isprintable():
            raise AgentError(f"a metric is named {name!r}; allowed: printable text of 1 to 100 characters")
        if len(self._metrics) >= MOST_METRICS:
            raise AgentError(f"a session reports at most {MOST_METRICS} metrics; {name!r} is one more")
        self._metrics[name] = [number, 1.0]

    # The end

    def _close_seats(self) -> list[tuple[SeatState, Cut]]:
        """The last decisions of each seat."""
        declared, states = self._declared, [state for state in self._seats if state is not None]
        if declared is not None and self._unscored:
            for state in states:
                state.earn(float(declared[state.index]))
        cuts = [(state, state.close(over=not self._truncated)) for state in states]
        return [(state, cut) for state, cut in cuts if cut is not None]

    def _result(self, ticks: int) -> SessionResult:
        returns = self._declared
        if returns is None:
            returns = np.array([0.0 if state is None else state.total for state in self._seats], np.float64)
        return SessionResult(
            session=self.session,
            returns=returns,
            ticks=ticks,
            truncated=self._truncated,
            played=frozenset(state.index for state in self._seats if state is not None and state.decisions),
            scored=self._declared is not None or not self._unscored,
            outside=dict(self._outside),
            metrics={name: total / count for name, (total, count) in self._metrics.items()},
        )

    def _require_result(self) -> None:
        """A game that counts in a league needs a result: a missing one is no draw."""
        if self._strict and self._unscored and self._declared is None:
            raise AgentError("the game ended without a result: call self.reward(...) or self.result([...])")

    # Lookups

    def seat_of(self, agent: Agent, seat: int | None) -> SeatState:
        """The seat that a call means; raises AgentError where there is none."""
        index = agent.seat if seat is None else seat
        if index is None:
            index = self._only_seat()
        if type(index) is not int or not 0 <= index < len(self._seats):
            self._checked_seat(index)
        state = self._seats[index]
        if state is None:
            state = self._seats[index] = SeatState(index, self.cast.seats[index])
        return state

    def _only_seat(self) -> int:
        """The one seat that a model plays."""
        played = [index for index, seat in enumerate(self.cast.seats) if seat.model is not None]
        if len(played) != 1:
            raise AgentError(f"say which seat: models play seats {played}; set self.seat in on_start or pass seat=")
        return played[0]

    def _checked_seat(self, seat: Any) -> None:
        seats = len(self._seats)
        if isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < seats:
            raise AgentError(f"there is no seat {seat!r}; the game has seats 0 to {seats - 1}")

    def _model(self, state: SeatState, name: str | None) -> Model:
        if name is None:
            if state.cast.model is None:
                raise AgentError(f"seat {state.index} is played by the game itself ({state.cast.name})")
            return state.cast.model
        named = {seat.name: seat.model for seat in self.cast.seats if seat.model is not None} | dict(self.cast.models)
        if name not in named:
            raise AgentError(f"there is no model {name!r} in this session; it has {', '.join(sorted(named)) or 'none'}")
        return named[name]


def finite(value: Any, what: str) -> float:
    """A number; raises AgentError for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise AgentError(f"{what} is {value!r}; allowed: a number") from error
    if not math.isfinite(number):
        raise AgentError(f"{what} is {number}; allowed: a finite number")
    if abs(number) > LARGEST:
        raise AgentError(f"{what} is {number}; allowed: at most {LARGEST:g}")
    return number
