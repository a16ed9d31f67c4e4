"""The director of a gateway in the league: which collection or match a session that starts belongs to."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from workers.games.errors import BadGame
from workers.gateway.contract import Cast, Episode, GameAnswer, Refused, SessionResult
from workers.gateway.league.work import Assignment, Collection, OpenOrder, Work

FLUSH_SECONDS = 0.02
"""Experience and results wait this long at most, so that many travel in one frame."""
TICKET_SECONDS = 30.0
"""A game that a gamecore asked for and has not started after this long goes to another one."""
RETRY_SECONDS = 0.5
"""When a game that has nothing to play should ask again."""

Withdraw = Callable[[Callable[[Cast], bool], str], int]
"""Aborts the sessions of some casts, with a reason: `SessionTable.withdraw`."""


@dataclass(slots=True)
class _Question:
    """A gamecore that has asked what to play next, and waits."""

    name: str
    answer: GameAnswer
    timer: asyncio.TimerHandle | None = None

    def answered(self) -> None:
        """It waits no more."""
        if self.timer is not None:
            self.timer.cancel()


class LeagueDirector:
    """Casts sessions by what crews and matches have asked for. Runs in the event loop; nothing here waits."""

    def __init__(self) -> None:
        self._works: dict[str, Work] = {}
        self._tickets: dict[str, tuple[OpenOrder, int]] = {}
        self._questions: deque[_Question] = deque()
        self._flush: asyncio.TimerHandle | None = None
        self._match_last = False
        self._contacts: dict[str, float] = {}
        self.withdraw: Withdraw = lambda chosen, reason: 0
        """Set by whoever makes the session table."""

    # What control connections call

    def open(self, work: Work) -> None:
        """Play this from now on; raises BadGame where another game of the same name is played."""
        others = [each for each in self._works.values() if each.name == work.name and not each.ending]
        if any(each.played != work.played for each in others):
            which = f"another game with the name {work.name!r}" if work.name else "another game without a name"
            raise BadGame(f"{which} is played at this gateway, with another spec or agent: give the games names")
        self._works[work.id] = work
        self.offer()

    def find(self, id: str) -> Work | None:
        return self._works.get(id)

    def close(self, work: Work, reason: str) -> None:
        """Give up this work: its sessions are aborted."""
        if self._works.pop(work.id, None) is None:
            return
        work.withdrawn = True
        for ticket, (order, _) in list(self._tickets.items()):
            if order is work:
                del self._tickets[ticket]
        self.withdraw(lambda cast: isinstance(cast.key, Assignment) and cast.key.work is work, reason)

    def leave(self, work: Work) -> None:
        """This work is done: sessions that are still under way go on, and nothing of them is recorded."""
        self._works.pop(work.id, None)
        work.withdrawn = True

    def offer(self) -> None:
        """There may be something new to play: answer gamecores that wait."""
        for question in list(self._questions):
            found = self._answer(question.name)
            if found is not None:
                self._questions.remove(question)
                question.answered()
                question.answer(found)

    def status(self, name: str, version: str = "") -> dict[str, object]:
        """What is known of the gamecores of this game, and how many decisions they made for this version."""
        works = [work for work in self._works.values() if work.name == name]
        last = self._contacts.get(name)
        now = asyncio.get_running_loop().time()
        return {
            "sessions": sum(len(work.running) for work in works),
            "waiting": sum(question.name == name for question in self._questions),
            "seconds": None if last is None else now - last,
            "rows": sum(work.rows for work in works if isinstance(work, Collection) and work.version == version),
        }

    def overview(self) -> list[dict[str, object]]:
        """Of each game what is played, what waits for gamecores, and which gamecores wait."""
        names = {work.name for work in self._works.values()} | {question.name for question in self._questions}
        now = asyncio.get_running_loop().time()
        return [self._described(name, now) for name in sorted(names | set(self._contacts))]

    def _described(self, name: str, now: float) -> dict[str, object]:
        works = [work for work in self._works.values() if work.name == name]
        last = self._contacts.get(name)
        return {
            "name": name,
            "sessions": sum(len(work.running) for work in works),
            "gamecores_waiting": sum(question.name == name for question in self._questions),
            "heard_seconds": None if last is None else now - last,
            "generations": sum(isinstance(work, Collection) and work.wanted for work in works),
            "games": sum(work.waiting for work in works if isinstance(work, OpenOrder)),
        }

    # GameSource

    def next_game(self, seconds: float, answer: GameAnswer, name: str = "") -> Callable[[], None]:
        """See `GameSource`."""
        self._heard(name)
        found = self._answer(name)
        if found is not None:
            answer(found)
            return lambda: None
        question = _Question(name, answer)
        question.timer = asyncio.get_running_loop().call_later(seconds, self._give_up, question)
        self._questions.append(question)
        return partial(self._forget, question)

    def _give_up(self, question: _Question) -> None:
        if question in self._questions:
            self._questions.remove(question)
            question.answer(None)

    def _forget(self, question: _Question) -> None:
        question.answered()
        if question in self._questions:
            self._questions.remove(question)

    def _answer(self, name: str) -> dict[str, object] | None:
        """What a gamecore should play now, with a ticket; None where there is nothing."""
        work = self._choose([work for work in self._works.values() if work.name == name])
        if work is None:
            return None
        if not isinstance(work, OpenOrder):
            return {"ticket": work.id, "game": work.name, "purpose": "training"}
        game = work.reserve()
        ticket = secrets.token_urlsafe(12)
        self._tickets[ticket] = work, game.game
        asyncio.get_running_loop().call_later(TICKET_SECONDS, self._expire, ticket)
        return {"ticket": ticket, "game": work.name, "purpose": "match", "seed": game.seed}

    def _expire(self, ticket: str) -> None:
        if (found := self._tickets.pop(ticket, None)) is not None:
            order, game = found
            order.give_back(game)
            self.offer()

    # Director

    def cast(self, session: str, ticket: str) -> Cast:
        """See `Director`."""
        if not session:
            raise Refused(409, "This gateway plays for a league, where each tick belongs to a session: send `start`.")
        if (reserved := self._tickets.pop(ticket, None)) is not None:
            order, game = reserved
            self._heard(order.name)
            return order.cast(session, game)
        works = self._named(ticket)
        self._heard(works[0].name if works else ticket)
        work = self._choose(works)
        if work is None:
            raise Refused(503, f"There is nothing to play now: {self._others(ticket)}.", RETRY_SECONDS)
        self._schedule_flush()
        return work.cast(session)

    def _named(self, ticket: str) -> list[Work]:
        """The works that a ticket allows: one by its id, or those of a game's name; without one, of no name.

        A gamecore that names no game is never given one with a name: it may be another.
        """
        if ticket in self._works:
            return [self._works[ticket]]
        return [work for work in self._works.values() if work.name == ticket]

    def _others(self, ticket: str) -> str:
        """Why nothing can be played, in words."""
        names = sorted({repr(work.name) for work in self._works.values() if work.name and work.wanted})
        if ticket or not names:
            return "no generation or match waits for games"
        return f"games with names wait; send the one that you play as the ticket of `start`. Open: {', '.join(names)}"

    def _choose(self, works: Iterable[Work]) -> Work | None:
        """Matches and training in turn; of several collections the one that has the least to take."""
        wanted = [work for work in works if work.wanted]
        orders = [work for work in wanted if isinstance(work, OpenOrder)]
        collections = [work for work in wanted if isinstance(work, Collection)]
        if orders and not (collections and self._match_last):
            self._match_last = True
            return orders[0]
        self._match_last = False
        return min(collections, key=lambda work: (work.outstanding, len(work.running)), default=None)

    def episode(self, cast: Cast, episode: Episode) -> None:
        """See `Director`."""
        assignment: Assignment = cast.key
        assignment.work.episode(assignment.slot, episode)
        self._schedule_flush()

    def finished(self, cast: Cast, result: SessionResult) -> None:
        """See `Director`."""
        assignment: Assignment = cast.key
        self._heard(assignment.work.name)
        if assignment.work.withdrawn:
            return
        problem = assignment.unplanned(result)
        if problem is None:
            assignment.work.finished(result.session, assignment.slot, result)
        else:
            assignment.work.aborted(result.session, assignment.slot, problem)
        self._schedule_flush()

    def aborted(self, cast: Cast, session: str, reason: str) -> None:
        """See `Director`."""
        assignment: Assignment = cast.key
        if not assignment.work.withdrawn:
            assignment.work.aborted(session, assignment.slot, reason)
            self._schedule_flush()

    def _heard(self, name: str) -> None:
        if not name or any(work.name == name for work in self._works.values()):
            self._contacts[name] = asyncio.get_running_loop().time()

    def _schedule_flush(self) -> None:
        if self._flush is None:
            self._flush = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._flush_all)

    def _flush_all(self) -> None:
        self._flush = None
        for work in list(self._works.values()):
            work.flush()
