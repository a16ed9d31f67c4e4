"""The host keeps policies between matches, tells how far it is, and stops when asked; on Ray it does the same."""

import threading
from typing import Any

import pytest
import ray

from league.types import VersionId
from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from workers.games.names import make_game
from workers.games.protocol import VectorGame
from workers.matches.host import MatchHost, match_actor
from workers.matches.play import play_match
from workers.matches.task import Entrant, MatchStopped, MatchTask

CONNECT_FOUR = Component(id="connect_four")
RANDOM = Entrant(id=VersionId("random"), bot="random")
SLOW = Entrant(id=VersionId("slow"), bot="mcts-2000")


def test_a_warm_host_reads_a_checkpoint_once(store: ArtifactStore, version, monkeypatch: pytest.MonkeyPatch) -> None:
    entrant = version(CONNECT_FOUR, 1)
    reads = []
    read = ArtifactStore.read
    monkeypatch.setattr(ArtifactStore, "read", lambda self, ref: reads.append(ref) or read(self, ref))
    host = MatchHost(store.root_url)
    task = MatchTask(game=CONNECT_FOUR, entrants=(entrant, RANDOM), pairs=2, seed=1)
    assert host.play(task).games == host.play(task).games
    assert reads == [entrant.checkpoint]
    assert host.progress() == (4, 4)


def test_a_warm_host_makes_only_the_tables_of_a_match(store: ArtifactStore, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def counted(game: str, tables: int, **options: Any) -> VectorGame:
        made.append(tables)
        return make_game(game, tables, **options)

    monkeypatch.setattr("workers.matches.host.make_game", counted)
    monkeypatch.setattr("workers.matches.play.make_game", counted)
    host = MatchHost(store.root_url)
    task = MatchTask(game=CONNECT_FOUR, entrants=(RANDOM, RANDOM), pairs=2, seed=1)
    host.play(task)
    assert made == [1, 4]
    host.play(task)
    assert made == [1, 4, 4]


def test_a_match_under_way_can_be_stopped(store: ArtifactStore) -> None:
    host = MatchHost(store.root_url)
    began = threading.Event()
    note = host._note
    host._note = lambda *now: (note(*now), began.set() if now[1] else None)
    outcome: list[BaseException] = []

    def play() -> None:
        try:
            host.play(MatchTask(game=CONNECT_FOUR, entrants=(SLOW, RANDOM), pairs=1000, seed=1, tables=1))
        except MatchStopped as stopped:
            outcome.append(stopped)

    player = threading.Thread(target=play)
    player.start()
    assert began.wait(timeout=60)
    host.stop()
    player.join(timeout=60)
    assert not player.is_alive()
    assert len(outcome) == 1


def test_on_ray_a_match_is_the_same(store: ArtifactStore, version, ray_cluster: None) -> None:
    task = MatchTask(game=CONNECT_FOUR, entrants=(version(CONNECT_FOUR, 1), RANDOM), pairs=5, seed=1)
    actor = match_actor(store.root_url)
    assert ray.get(actor.play.remote(task)).games == play_match(task, store=store).games
    assert ray.get(actor.progress.remote()) == (10, 10)
