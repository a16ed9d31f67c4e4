"""Whether processes of a game that calls in are connected: asked of all gateways while a generation or match waits."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Self

from orchestrator.catalog import Component
from workers.games.remote import REMOTE
from workers.gateway.league.access import GatewayAccess
from workers.gateway.league.frames import Frame
from workers.gateway.league.links import LOST, Links, listed

ASK_SECONDS = 1.0
ANSWER_SECONDS = 2.0
"""How long gateways may take to connect and to answer."""
QUIET_SECONDS = 5.0
"""A game from which nothing was heard for this long is not connected, if it has no session either."""
FIRST_PATIENCE, LONGEST_PATIENCE, PATIENCE_UNDER_WAY = 5.0, 600.0, 60.0
"""Seconds of waiting after which an attempt ends, and so becomes an event that people see; doubled each time."""


class GamecorePatience:
    """How long attempts wait for a game to call in, by what they are for; thread-safe."""

    def __init__(self) -> None:
        self._waited: dict[str, float] = {}
        self._lock = threading.Lock()

    def of(self, key: str) -> float:
        """The patience of the next attempt."""
        with self._lock:
            return self._waited.get(key, FIRST_PATIENCE)

    def ended(self, key: str, *, waited: bool) -> None:
        """An attempt ended: for lack of games, or otherwise."""
        with self._lock:
            if waited:
                self._waited[key] = min(LONGEST_PATIENCE, 2 * self._waited.get(key, FIRST_PATIENCE))
            else:
                self._waited.pop(key, None)


class GamecoreWatch:
    """Asks gateways about the processes of one game; a context manager. Of games that do not call in it asks nothing.

    with GamecoreWatch(access, game, patience) as watch:
        watch.problem       # words while nothing calls in, else None
        watch.given_up      # whether it has lasted too long
        watch.rows          # decisions that games have made for the version
    """

    def __init__(self, access: GatewayAccess | None, game: Component, patience: float, version: str = "") -> None:
        """`version` is what a generation starts from; a match has none, and no decisions are counted."""
        self._access, self._patience, self._version = access, patience, version
        self.rows = 0
        """Decisions for the version that were seen to be added; as of the last `problem`."""
        self._rows_at: dict[int, int] = {}
        self._name = str(game.options.get("name", ""))
        self._remote = game.id == REMOTE
        self._links: Links | None = None
        self._answers: dict[int, Frame] = {}
        self._began, self._asked_at = time.monotonic(), 0.0
        self._since: float | None = None
        self._seen = False

    def __enter__(self) -> Self:
        if self._remote and self._access is not None and self._access.addresses:
            self._links = Links(self._access, "a watch for games")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._links is not None:
            self._links.close()

    @property
    def problem(self) -> str | None:
        """Why no game is played, in words; None where games call in. Called several times a second."""
        if self._links is None:
            return None
        self._ask(self._links)
        problem = self._problem(self._links)
        if problem is None:
            self._since = None
            self._seen = self._seen or bool(self._answers)
        elif self._since is None:
            self._since = time.monotonic()
        return problem

    @property
    def given_up(self) -> bool:
        """Whether this has lasted longer than patience allows; as of the last `problem`.

        Games that were there and are gone may come back soon: to end an attempt costs what it has learnt.
        """
        patience = max(self._patience, PATIENCE_UNDER_WAY) if self._seen else self._patience
        return self._since is not None and time.monotonic() - self._since > patience

    def _ask(self, links: Links) -> None:
        while (arrived := links.next(0)) is not None:
            if arrived.frame.kind == "status":
                self._answers[arrived.link] = arrived.frame
                self._count_rows(arrived.link, int(arrived.frame.fields.get("rows", 0)))
            elif arrived.frame.kind == LOST:
                self._answers.pop(arrived.link, None)
        now = time.monotonic()
        if now - self._asked_at > ASK_SECONDS:
            self._asked_at = now
            links.send_all(Frame("status", {"name": self._name, "version": self._version}))

    def _count_rows(self, link: int, rows: int) -> None:
        """A gateway that was restarted, or has a new collection, counts from 0 again."""
        self.rows += max(0, rows - self._rows_at.get(link, 0)) if self._version else 0
        self._rows_at[link] = rows

    def _problem(self, links: Links) -> str | None:
        if not self._answers:
            why = "; ".join(links.problems) or "it does not answer"
            return f"no gateway is connected ({why})" if time.monotonic() - self._began > ANSWER_SECONDS else None
        heard = [answer.fields for answer in self._answers.values()]
        connected = any(
            each["sessions"] or each["waiting"] or (each["seconds"] is not None and each["seconds"] < QUIET_SECONDS)
            for each in heard
        )
        if connected:
            return None
        which = f"game {self._name!r}" if self._name else "game"
        return f"no process of the {which} calls in at the gateways; their control addresses: {listed(links.addresses)}"
