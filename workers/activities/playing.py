"""Plays gating and rating games on Ray actors beside the crews."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import count
from typing import Any

import ray
import structlog
from ray.exceptions import RayActorError, RayTaskError
from temporalio import activity

from orchestrator.contracts.play import PlayedGame, PlayOutcome, PlayRequest, play_games
from orchestrator.storage.artifacts import ArtifactStore, ArtifactStoreUnavailable, DamagedArtifact, MissingArtifact
from orchestrator.storage.played_games import pack_games
from workers.activities.failures import map_errors
from workers.activities.gamecores import GamecorePatience, GamecoreWatch
from workers.activities.progress_watch import ProgressWatch
from workers.cluster.watch import ClusterWatch
from workers.crews.errors import CrewLost
from workers.crews.hosts.calls import raised_by
from workers.gateway.league.access import GatewayAccess
from workers.matches.host import match_actor
from workers.matches.result import MatchResult
from workers.matches.task import Entrant, MatchTask, Randomness

log = structlog.get_logger()

POLL_SECONDS = 0.25
ALIVE_POLLS = 20
"""Polls for an idle actor's answer before it counts as dead."""
STORE_PATIENCE = 300.0
"""Seconds for which storing the played games is retried while the store is unavailable: they may be hours of work."""
LONGEST_PAUSE = 20.0


class PlayActivities:
    """Plays batches of games, one actor for each slot of the play queue."""

    def __init__(
        self, artifacts: str, gateways: GatewayAccess | None = None, cluster: ClusterWatch | None = None
    ) -> None:
        """`gateways` play games that call in. `cluster` says which of Ray's nodes may be used; None: all."""
        self._artifacts, self._gateways, self._cluster = artifacts, gateways, cluster
        self._node_of: dict[Any, str] = {}
        """The nodes of the actors, where there is a cluster."""
        self._patience = GamecorePatience()
        self._idle: list[Any] = []
        self._lock = threading.Lock()

    @activity.defn(name=play_games.name, no_thread_cancel_exception=True)
    def play_games(self, request: PlayRequest) -> PlayOutcome:
        """All games of the batch, played to their end."""
        key = f"{request.trial} {request.occasion}"
        with GamecoreWatch(self._gateways, request.game, self._patience.of(key)) as gamecores:
            watch = ProgressWatch(request.stall_seconds, "games", gamecores)
            try:
                return self._play_batch(request, watch)
            finally:
                self._patience.ended(key, waited=watch.lacked_gamecores)

    def _play_batch(self, request: PlayRequest, watch: ProgressWatch) -> PlayOutcome:
        with map_errors():
            task = match_task(request)
            watch.wait_for_gamecores()
            result = self._play_somewhere(task, watch)
            return _retry_while_unavailable(watch, lambda: pack_games(games_of(result), ArtifactStore(self._artifacts)))

    def _play_somewhere(self, task: MatchTask, watch: ProgressWatch) -> MatchResult:
        """The match's result; a node that cannot read an artifact which this process can is passed over."""
        while True:
            actor = self._take(watch)
            try:
                result = self._play(actor, task, watch)
            except BaseException as error:
                node = self._discard(actor)  # it may still be playing
                if not self._is_the_nodes_fault(node, error):
                    raise
            else:
                with self._lock:
                    self._idle.append(actor)
                return result

    def _discard(self, actor: Any) -> str | None:
        ray.kill(actor)
        return self._node_of.pop(actor, None)

    def _is_the_nodes_fault(self, node: str | None, error: BaseException) -> bool:
        if self._cluster is None or node is None or not isinstance(error, MissingArtifact | DamagedArtifact):
            return False
        blamed = self._cluster.blame([node], error, ArtifactStore(self._artifacts))
        if blamed is not None:
            log.warning("games are played elsewhere", problem=blamed)
        return blamed is not None

    def _play(self, actor: Any, task: MatchTask, watch: ProgressWatch) -> MatchResult:
        game = actor.play.remote(task)
        asked = _ask(actor)
        while True:
            if watch.should_stop():
                raise watch.stop_error()
            if self._cluster is not None and (lost := self._cluster.lost([self._node_of.get(actor, "")])) is not None:
                raise CrewLost(f"the games were lost: {lost}")
            ready, _ = ray.wait([game], timeout=POLL_SECONDS)
            if ready:
                return _result(game)
            if len(ray.wait(asked, num_returns=len(asked), timeout=0)[0]) == len(asked):
                (finished, scheduled), rounds = ray.get(asked)
                watch.record(finished, extra_progress=rounds, target=scheduled)
                asked = _ask(actor)

    def _take(self, watch: ProgressWatch) -> Any:
        """An idle actor that is alive, else a new one. Actors are checked outside the lock, with heartbeats."""
        while (actor := self._pop_idle()) is not None:
            if self._may_stay(actor) and _is_alive(actor, watch):
                return actor
            self._discard(actor)
        # reserves no CPU, so that games never wait for a crew, nor a crew for games
        if self._cluster is None:
            return match_actor(self._artifacts, cpus=0, gateways=self._gateways)
        node = self._choose_node(self._cluster, watch)
        actor = match_actor(self._artifacts, cpus=0, gateways=self._gateways, node=node)
        self._node_of[actor] = node
        return actor

    def _may_stay(self, actor: Any) -> bool:
        return self._cluster is None or self._cluster.may_use([self._node_of[actor]])

    def _choose_node(self, cluster: ClusterWatch, watch: ProgressWatch) -> str:
        """The node with the fewest of these actors for its CPUs; waits for one that may be used."""
        while not (nodes := cluster.state.usable):
            watch.waiting("a Ray node that may run games")
            if watch.should_stop():
                raise watch.stop_error()
            time.sleep(POLL_SECONDS)
        here = Counter(self._node_of.values())
        return min(nodes, key=lambda node_id: ((here[node_id] + 1) / nodes[node_id].cpus, node_id))

    def _pop_idle(self) -> Any | None:
        with self._lock:
            return self._idle.pop() if self._idle else None


def _retry_while_unavailable(watch: ProgressWatch, work: Callable[[], PlayOutcome]) -> PlayOutcome:
    """The result of `work`, retried with back-off while the artifact store is unavailable."""
    deadline = time.monotonic() + STORE_PATIENCE
    for attempt in count():
        try:
            return _with_heartbeats(watch, work)
        except ArtifactStoreUnavailable:
            if time.monotonic() > deadline:
                raise
        _pause(watch, _pause_after(attempt))
    raise AssertionError("unreachable: the loop has no end")


def _with_heartbeats(watch: ProgressWatch, work: Callable[[], PlayOutcome]) -> PlayOutcome:
    """The result of `work`, with heartbeats meanwhile: packing and storing many games takes long."""
    thread = ThreadPoolExecutor(1)
    try:
        outcome = thread.submit(work)
        while not wait([outcome], timeout=POLL_SECONDS).done:
            watch.waiting()
            # a worker that shuts down has time to finish the write; after a cancellation the result is not needed
            if watch.should_stop() and activity.is_cancelled():
                raise watch.stop_error()
        return outcome.result()
    finally:
        thread.shutdown(wait=False)


def _pause_after(attempt: int) -> float:
    return min(LONGEST_PAUSE, 2.0 ** min(attempt, 10))


def _pause(watch: ProgressWatch, seconds: float) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        watch.waiting()
        if watch.should_stop():
            raise watch.stop_error()
        time.sleep(min(left, POLL_SECONDS))


def _ask(actor: Any) -> list[Any]:
    return [actor.progress.remote(), actor.rounds.remote()]


def _result(game: Any) -> MatchResult:
    """The result of the finished call. An exception of the game is raised itself, not as a lost actor."""
    try:
        result: MatchResult = ray.get(game)
    except RayTaskError as error:
        raise raised_by(error) from error
    return result


def _is_alive(actor: Any, watch: ProgressWatch) -> bool:
    """Whether the actor answers within a few seconds."""
    answer = actor.progress.remote()
    for _ in range(ALIVE_POLLS):
        watch.waiting()
        if watch.should_stop():
            raise watch.stop_error()
        if ray.wait([answer], timeout=POLL_SECONDS)[0]:
            break
    else:
        return False
    try:
        ray.get(answer)
    except RayActorError:
        return False
    return True


def match_task(request: PlayRequest) -> MatchTask:
    """The match task of a request. The actor checks it against the game, because making a user's game may hang."""
    return MatchTask(
        game=request.game,
        entrants=tuple(
            Entrant(id=contender.version, checkpoint=contender.checkpoint, bot=contender.bot)  # type: ignore[arg-type]
            for contender in request.contenders
        ),
        pairs=request.pairs,
        seed=request.seed,
        randomness=Randomness(sampled=request.sampled, opening_plies=request.opening_plies),
        trial=request.trial,
    )


def games_of(result: MatchResult) -> list[PlayedGame]:
    """The games as plain values."""
    return [
        PlayedGame(
            pair=game.pair,
            seating=list(game.seating),
            teams=list(game.teams),
            seed=game.seed,
            returns=list(game.returns),
            moves=list(game.moves),
            opening=game.opening,
        )
        for game in result.games
    ]
