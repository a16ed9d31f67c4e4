"""Plays matches in this process, or in a Ray actor made by `match_actor`."""

from __future__ import annotations

import json
import threading
from typing import Any

import ray
import torch
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code.code_importing import import_archives_from
from workers.games.names import make_game
from workers.games.remote import REMOTE
from workers.gateway.league.access import NO_GATEWAY, GatewayAccess
from workers.gateway.league.links import Links
from workers.inference.cache import PolicyCache
from workers.matches.play import play_match
from workers.matches.remote import play_remote_match
from workers.matches.result import MatchResult
from workers.matches.task import BadMatch, MatchTask
from workers.user_errors import raises_user_errors


@raises_user_errors
class MatchHost:
    """Plays one match at a time and keeps the policies it played lately. `progress` and `stop` may be called
    from another thread while it plays.
    """

    def __init__(self, artifacts: str, threads: int = 1, gateways: GatewayAccess | None = None) -> None:
        """`gateways` play the matches of games that call in."""
        self._gateways = gateways
        self._links: Links | None = None
        self._store = ArtifactStore(artifacts)
        import_archives_from(self._store)  # own code is imported from its archive
        self._threads = threads
        self._policies: dict[str, PolicyCache] = {}
        self._stop = threading.Event()
        self._finished, self._scheduled = 0, 0
        self._rounds = 0

    def play(self, task: MatchTask) -> MatchResult:
        """Play all games of the task; raises BadMatch if all games would be the same, and MatchStopped after `stop`."""
        torch.set_num_threads(self._threads)  # here, because the setting belongs to the calling thread
        self._stop.clear()
        self._note(0, 0)
        if task.game.id == REMOTE:
            return self._play_remote(task)
        policies = self._cache(task.game)
        task.check_games_differ(policies.spec)
        return play_match(
            task,
            store=self._store,
            policies=policies,
            progress=self._note,
            should_stop=self._stop.is_set,
        )

    def _play_remote(self, task: MatchTask) -> MatchResult:
        """Order the games at gateways; connections are kept for later matches."""
        if self._gateways is None or not self._gateways.addresses:
            raise BadMatch(NO_GATEWAY)
        spec = make_game(task.game.id, 1, **task.game.options).spec
        if self._links is None:
            self._links = Links(self._gateways, "a match")
        return play_remote_match(task, spec, self._links, self._note, self._stop.is_set)

    def progress(self) -> tuple[int, int]:
        """Games finished and games scheduled of the match under way, or of the last one."""
        return self._finished, self._scheduled

    def rounds(self) -> int:
        """Rounds of moves so far, in all matches: they show progress even while a single game takes long."""
        return self._rounds

    def stop(self) -> None:
        """Give up the match under way at its next move; one that starts later is not affected."""
        self._stop.set()

    def _note(self, finished: int, scheduled: int) -> None:
        self._finished, self._scheduled = finished, scheduled
        self._rounds += 1

    def _cache(self, game: Component) -> PolicyCache:
        key = json.dumps([game.id, dict(game.options)], sort_keys=True)
        if key not in self._policies:
            self._policies[key] = PolicyCache(self._store, make_game(game.id, 1, **game.options).spec)
        return self._policies[key]


_MatchActor = ray.remote(MatchHost)


def match_actor(
    artifacts: str,
    *,
    cpus: float = 1,
    threads: int = 1,
    gateways: GatewayAccess | None = None,
    node: str | None = None,
) -> Any:
    """A MatchHost on Ray; its second thread answers `progress` and `stop` while the first one plays.

    It runs on `node`; None: wherever Ray puts it.
    """
    place = None if node is None else NodeAffinitySchedulingStrategy(node, soft=False)
    options = _MatchActor.options(num_cpus=cpus, max_concurrency=2, scheduling_strategy=place)
    return options.remote(artifacts, threads, gateways)
