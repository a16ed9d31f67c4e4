"""Plays matches of games that call in: orders them at gateways, whose gamecores ask what to play next."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workers.games.protocol import GameSpec
from workers.gateway.league.demand import Contestant, GameOrder, OrderedGame, games_frame
from workers.gateway.league.frames import Frame
from workers.gateway.league.links import CONNECTED, LOST, Arrived, Links
from workers.matches.game_queue import GameQueue
from workers.matches.play import Progress
from workers.matches.result import GameRecord, MatchResult
from workers.matches.task import MatchStopped, MatchTask
from workers.rollout.remote import FAILURES_IN_A_ROW, POLL_SECONDS, is_user_failure, new_id
from workers.user_errors import NotFinite, UserCodeError

RECALL_SECONDS = 2.0
"""A gateway that has begun no game for this long gives its games to the others."""


def play_remote_match(
    task: MatchTask,
    spec: GameSpec,
    links: Links,
    progress: Progress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> MatchResult:
    """Play the task's games on whatever gamecores are connected; waits for one as long as nobody stops it."""
    task.check(spec)
    match = RemoteMatch(task, spec, links)
    moved = True
    try:
        while match.left:
            if should_stop is not None and should_stop():
                raise MatchStopped(f"stopped after {match.finished} of {len(match)} games")
            if moved and progress is not None:
                progress(match.finished, len(match))
            moved = match.look()
        if progress is not None:
            progress(match.finished, len(match))
    finally:
        match.end()
    return MatchResult(task=task, games=match.records())


class RemoteMatch:
    """The games of a match: which gateway has which, and the results. A result counts once, whoever sends it again."""

    def __init__(self, task: MatchTask, spec: GameSpec, links: Links) -> None:
        links.forget()
        self._spec, self._links = spec, links
        self._queue = GameQueue(task, spec)
        entrants = [Contestant(name=e.id, player=e.id, checkpoint=e.checkpoint, bot=e.bot) for e in task.entrants]
        self._order = GameOrder(
            id=new_id(),
            game=task.game,
            entrants=entrants,
            sampled=task.randomness.sampled,
            info={"trial": task.trial} if task.trial else {},
        )
        self._waiting = deque(range(len(self._queue)))
        self._at: dict[int, dict[int, bool]] = {}
        """By gateway: its games, and whether each has begun."""
        self._begun_at: dict[int, float] = {}
        self._idle: set[int] = set()
        """Gateways that began none of the games that they had."""
        self._results: dict[int, Mapping[str, Any]] = {}
        self._aborted_in_a_row = 0
        self._under_way: set[int] = set()
        """Games that were under way when the first of these was aborted: one cause may have ended them all."""
        for link in links.connected:
            self._open(link)

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def finished(self) -> int:
        return len(self._results)

    @property
    def left(self) -> int:
        return len(self) - self.finished

    def look(self) -> bool:
        """Hand out games, and take in what arrives next; returns whether a game began or ended."""
        self._hand_out()
        moved = False
        arrived = self._links.next(POLL_SECONDS)
        while arrived is not None:
            moved = self._take_in(arrived) or moved
            arrived = self._links.next(0)
        return moved

    def end(self) -> None:
        """Give up what is left."""
        self._links.send_all(Frame("drop", {"id": self._order.id, "reason": "the match is over"}))

    def records(self) -> tuple[GameRecord, ...]:
        """Every game, in the order of the queue; raises NotFinite if a return is not finite."""
        return tuple(self._record(game) for game in range(len(self)))

    def _record(self, game: int) -> GameRecord:
        result, queue, spec = self._results[game], self._queue, self._spec
        if not np.isfinite(result["returns"]).all():
            raise NotFinite(f"{spec.id}: a game returned {result['returns']}, which is not finite")
        return GameRecord(
            pair=int(queue.pair[game]),
            seating=tuple(queue.seating[game].tolist()),
            teams=spec.teams if spec.team_count < spec.seats else (),
            seed=int(queue.seeds[game]),
            returns=tuple(float(each) for each in result["returns"]),
            length=int(result["ticks"]),
            moves=(),
            opening=0,
            truncated=bool(result["truncated"]),
        )

    def _open(self, link: int) -> None:
        self._at[link], self._begun_at[link] = {}, time.monotonic()
        self._links.send(link, self._order.frame())

    def _hand_out(self) -> None:
        """Give every gateway its share of the games that nobody has; take them from those that begin none."""
        if self._waiting and self._at:
            busy = [link for link in self._at if link not in self._idle] or list(self._at)
            share = -(-len(self._waiting) // len(busy))
            for link in busy:
                games = [self._waiting.popleft() for _ in range(min(share, len(self._waiting)))]
                self._at[link] |= dict.fromkeys(games, False)
                self._begun_at[link] = time.monotonic()
                self._links.send(link, games_frame(self._order.id, [self._ordered(game) for game in games]))
        now = time.monotonic()
        for link in list(self._at) if len(self._at) > 1 else ():
            if now - self._begun_at[link] > RECALL_SECONDS and not all(self._at[link].values()):
                self._begun_at[link] = now
                self._idle.add(link)
                self._links.send(link, Frame("recall", {"id": self._order.id}))

    def _ordered(self, game: int) -> OrderedGame:
        seating = tuple(self._queue.seating[game].tolist())
        return OrderedGame(game=game, seating=seating, seed=int(self._queue.seeds[game]))

    def _take_in(self, arrived: Arrived) -> bool:
        """Take in a frame; returns whether it says that a game began or ended."""
        link, frame = arrived
        if frame.kind == CONNECTED:
            self._lose(link)
            self._open(link)
        elif frame.kind == LOST:
            self._lose(link)
        elif frame.fields.get("id") == self._order.id and link in self._at:
            self._take_own(link, frame)
            return frame.kind != "unplayed" or bool(frame.fields["reason"])  # games that are handed back never began
        return False

    def _lose(self, link: int) -> None:
        """What a gateway had is aborted there, and played again elsewhere."""
        self._waiting.extend(self._at.pop(link, {}))

    def _take_own(self, link: int, frame: Frame) -> None:
        fields = frame.fields
        match frame.kind:
            case "begun":
                self._begun_at[link] = time.monotonic()
                self._idle.discard(link)
                if fields["game"] in self._at[link]:
                    self._at[link][fields["game"]] = True
            case "played":
                self._aborted_in_a_row = 0
                if self._at[link].pop(fields["game"], None) is not None:
                    self._results.setdefault(fields["game"], fields)
            case "unplayed":
                self._put_back(link, fields)
            case "refused":
                raise UserCodeError(fields["problem"], fields["frames"])

    def _put_back(self, link: int, fields: Mapping[str, Any]) -> None:
        """Games without a result: handed back without a reason, or aborted."""
        reason = fields["reason"]
        if reason:
            self._count_aborted(reason, fields["games"])
        self._waiting.extend(game for game in fields["games"] if self._at[link].pop(game, None) is not None)

    def _count_aborted(self, reason: str, games: Sequence[int]) -> None:
        """Raise UserCodeError after too many aborted games without one that was played: more would go the same way."""
        if not self._aborted_in_a_row:
            self._under_way = {game for at in self._at.values() for game, begun in at.items() if begun} - set(games)
        if self._under_way.isdisjoint(games) or is_user_failure(reason):
            self._aborted_in_a_row += 1
        self._under_way -= set(games)
        if self._aborted_in_a_row >= FAILURES_IN_A_ROW:
            raise UserCodeError(f"{self._aborted_in_a_row} games in a row were aborted; the last: {reason}")
