"""Ends a session, and passes its episodes on: first to `on_episode`, then to the director."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import structlog

from workers.agents.agent import Agent
from workers.agents.agent_set import AgentSet
from workers.agents.drive import Drive, as_coroutine
from workers.agents.errors import AgentError
from workers.agents.part import Part
from workers.agents.play import SessionPlay
from workers.agents.seat import Cut, SeatState, episode_of
from workers.gateway.contract import Cast, Director, Episode

log = structlog.get_logger()


class SessionEnding(SessionPlay):
    """Hands over episodes and the result. A session has ended when all agents that started have ended."""

    __slots__ = ("_agents", "_background", "_closed", "_director", "_parts", "_unsettled")

    def __init__(
        self,
        session: str,
        cast: Cast,
        agents: AgentSet,
        director: Director,
        loop: asyncio.AbstractEventLoop,
        closed: Callable[[], None] | None,
    ) -> None:
        super().__init__(session, cast, agents.codec(cast.spec), loop)
        self._agents, self._director, self._closed = agents, director, closed
        self._parts: dict[str, Part] = {}
        self._background: list[Drive] = []
        """Coroutines of `on_episode`."""
        self._unsettled = 0
        """Episodes that are not handed over yet."""

    @abstractmethod
    def _respond(self, part: Part) -> None:
        """Write the reply of a request that is done."""

    @abstractmethod
    def _failed(self, part: Part | None, where: str, error: BaseException) -> None:
        """An agent raised: tell the game that waits for it, and abort the session."""

    def _ended(self, part: Part) -> None:
        part.ended = True
        if any(not each.ended for each in self._parts.values()):
            self._respond(part)
            return
        try:
            self._require_result()
        except AgentError as error:
            self._failed(part, f"{type(part.agents[0]).__name__}.on_end", error)
            return
        self._unsettled += 1
        for seat, cut in self._close_seats():
            if cut.final is None:
                self.emit(seat, cut)
            else:
                self._look_ahead(seat, cut)
        self._settled()

    def _look_ahead(self, seat: SeatState, cut: Cut) -> None:
        """Let the model see the final observation of a truncated game: what it returns bootstraps."""
        model, final = seat.cast.model, cut.final
        assert model is not None and final is not None
        final.shown.update(seat.recalled(model))
        self._unsettled += 1

        def decided(answer: Any) -> None:
            if isinstance(answer, Exception):
                cut.final = None
            else:
                answer.pop("acted_by", None)
                final.answer = answer
            if not self.over:
                self.emit(seat, cut)
                self._settled()

        model.submit(final.shown, decided)

    def emit(self, seat: SeatState, cut: Cut) -> None:
        agent = cut.agent
        assert agent is not None, "somebody decided"
        episode = episode_of(self.session, seat.index, cut)
        if type(agent).on_episode is Agent.on_episode:
            self._tell(self._director.episode, episode)
            return
        self._unsettled += 1
        try:
            value = agent.on_episode(episode)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._episode_seen(agent, episode, None, error)
            return
        if hasattr(value, "__await__"):
            coroutine = as_coroutine(value)
            drive = Drive(coroutine, lambda kept, error: self._episode_seen(agent, episode, kept, error), self.loop)
            self._background = [each for each in self._background if not each.closed]
            self._background.append(drive)
            drive.step()
        else:
            self._episode_seen(agent, episode, value, None)

    def _episode_seen(self, agent: Agent, episode: Episode, kept: Any, error: BaseException | None) -> None:
        if self.over:
            return
        try:
            if error is not None:
                raise error
            if kept is not False:
                _check_episode(episode)
        except BaseException as problem:
            part = next((each for each in self._parts.values() if each.reply is not None), None)
            self._failed(part, f"{type(agent).__name__}.on_episode", problem)
            return
        if kept is not False:
            self._tell(self._director.episode, episode)
        self._settled()

    def _settled(self) -> None:
        """One episode less to hand over; after the last one of a session that ended, the result."""
        self._unsettled -= 1
        if self._unsettled or self.over or any(not part.ended for part in self._parts.values()):
            return
        self.over = True
        self._tell(self._director.finished, self._result(max(part.tick for part in self._parts.values())))
        last = [part for part in self._parts.values() if part.reply is not None]
        for part in last:
            self._respond(part)
        self._forget()

    def _tell(self, method: Callable[..., None], *what: Any) -> None:
        """Tell the director; the game and its agents are not harmed by what it does."""
        try:
            method(self.cast, *what)
        except Exception:
            log.exception("a director failed", session=self.session, method=method.__name__)

    def _forget(self) -> None:
        """Let go of what the session held; agents refer to it and it to them."""
        for part in self._parts.values():
            part.agents, part.drives = [], []
        if self._closed is not None:
            self._closed()


def _check_episode(episode: Episode) -> None:
    """`on_episode` may have changed the columns: rows must be as many as before, and rewards finite."""
    rows = 0 if episode.acted_by is None else len(episode.acted_by)
    for name, column in episode.columns.items():
        if len(column) != rows:
            raise AgentError(f"column {name!r} has {len(column)} rows after on_episode; the episode has {rows}")
    rewards = np.asarray(episode.columns.get("reward"), np.float32)
    if rewards.shape != (rows,) or not np.isfinite(rewards).all():
        raise AgentError("the column 'reward' must have one finite number a row after on_episode")
    episode.columns["reward"] = rewards
