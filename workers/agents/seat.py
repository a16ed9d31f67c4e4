"""One seat of a session: its model's recurrent state, what it earned, and the decisions to learn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workers.agents.codec import Row
from workers.agents.errors import AgentError
from workers.gateway.contract import Episode, Model, SeatCast

if TYPE_CHECKING:
    from workers.agents.agent import Agent

_NO_STATE: Row = {}
_LOG_PROB = "log_prob"


class Decided:
    """A decision of a model, made or not yet."""

    __slots__ = ("acted_by", "answer", "reward", "shown", "tick")

    def __init__(self, shown: Row, tick: int = 0) -> None:
        self.shown, self.tick = shown, tick
        self.answer: Row | None = None
        self.reward = 0.0
        self.acted_by = 0

    @property
    def columns(self) -> Row:
        """All columns; the recurrent state before the decision takes the place of the one after it."""
        assert self.answer is not None
        return {**self.answer, **self.shown}


class Cut:
    """Decisions between two cuts, waiting for what followed the last one."""

    __slots__ = ("agent", "final", "over", "rows")

    def __init__(self, rows: list[Decided], agent: Agent | None, *, over: bool, final: Decided | None) -> None:
        self.rows, self.agent, self.over, self.final = rows, agent, over, final


class SeatState:
    """What a session remembers of one seat."""

    __slots__ = (
        "_actor",
        "_state",
        "_state_of",
        "agent",
        "asked",
        "cast",
        "decisions",
        "final",
        "index",
        "rows",
        "total",
    )

    def __init__(self, index: int, cast: SeatCast) -> None:
        self.index, self.cast = index, cast
        self.rows: list[Decided] = []
        """Decisions since the last cut; only of learning seats."""
        self.agent: Agent | None = None
        """The agent that decided last: its `on_episode` is told."""
        self.total = 0.0
        self.asked = 0
        """Decisions under way."""
        self.decisions = 0
        self.final: Decided | None = None
        """What the seat would have seen next when the game was truncated."""
        self._state: Row = _NO_STATE
        self._state_of: Model | None = None
        self._actor: Any = None

    def recalled(self, model: Model) -> Row:
        """The recurrent state before the next decision of this model: zeros at the start of a game."""
        actor = model.actor
        if self._actor is not actor or self._state_of is not model:
            shapes = actor.state_shapes
            known = {name: column.shape[1:] for name, column in self._state.items()}
            if self._state_of is not model or known != shapes:
                self._state = {name: np.zeros((1, *shape), np.float32) for name, shape in shapes.items()}
            self._state_of, self._actor = model, actor
        return self._state

    def remember(self, model: Model, answer: Row) -> None:
        """Keep the recurrent state after a decision."""
        if self._state and self._state_of is model and self._state.keys() <= answer.keys():
            self._state = {name: answer[name] for name in self._state}

    def earn(self, reward: float) -> None:
        """Credit a reward to the latest decision."""
        self.total += reward
        if self.rows:
            self.rows[-1].reward += reward

    def begin(self, shown: Row, agent: Agent) -> tuple[Decided, Cut | None]:
        """A new decision of a learning seat; with it the decisions before, if they make an episode."""
        decided = Decided(shown, agent.tick)
        cut, episode_length = None, agent.episode_length
        if episode_length is not None and len(self.rows) >= episode_length:
            rows = [row for row in self.rows if row.answer is not None]
            cut = Cut(rows, self.agent, over=False, final=decided) if rows else None
            self.rows = []
        self.rows.append(decided)
        self.agent = agent
        return decided, cut

    def override(self, row: NDArray[Any], tick: int) -> None:
        """The action of this tick's decision was not played: this one was. Without a decision nothing changes.

        An algorithm that needs the action's probability under its policy never sees the decision. Rewards then go to
        the decision before, as they do for moves of opponents.
        """
        if not self.rows or self.rows[-1].tick != tick:
            return
        latest = self.rows[-1]
        if latest.answer is None:
            raise AgentError(f"seat {self.index}: override follows `await self.forward(...)`, which is not done")
        if _LOG_PROB in latest.answer:
            self.rows.pop()
        else:
            latest.answer = {**latest.answer, "action": row}

    def close(self, *, over: bool) -> Cut | None:
        """The last decisions of a game that ended; None where there are none."""
        rows = [row for row in self.rows if row.answer is not None]
        self.rows = []
        return Cut(rows, self.agent, over=over, final=None if over else self.final) if rows else None


def episode_of(session: str, seat: int, cut: Cut) -> Episode:
    """Decisions as columns."""
    parts = [row.columns for row in cut.rows]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    columns["reward"] = np.array([row.reward for row in cut.rows], np.float32)
    return Episode(
        session=session,
        seat=seat,
        columns=columns,
        over=cut.over,
        final=None if cut.final is None or cut.final.answer is None else cut.final.columns,
        acted_by=np.array([row.acted_by for row in cut.rows], np.int64),
    )
