"""Tournaments with everything real but Ray: the store, the league's rules, the games."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from sqlalchemy import Engine, func, select
from temporalio import activity
from temporalio.client import Client, WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from api.activities import store_activities
from api.store.core.engine import session_factory
from api.store.core.ids import new_id
from api.store.tables import Base, Match, Pairing, Tournament, TournamentEntrant
from api.store.tournaments.lifecycle import create_tournament
from api.worker import WORKFLOWS
from orchestrator.contracts import Queue
from orchestrator.contracts.play import PlayOutcome, PlayRequest, play_games
from orchestrator.contracts.tournaments import TournamentState, tournament_workflow_id
from orchestrator.spec.tournament import check_tournament
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.storage.played_games import pack_games
from workers.activities.playing import games_of, match_task
from workers.matches.host import MatchHost

TIC_TAC_TOE = {"id": "tic_tac_toe"}
PATIENCE = 240.0
"""Seconds until a test gives up; far above what a tournament here takes."""
PlannedKey = tuple[int, int, int, int | None, int, int]


class Hall:
    """One database, and activities that play in this process."""

    def __init__(self, engine: Engine, artifacts: ArtifactStore) -> None:
        self.engine, self.artifacts = engine, artifacts
        self.sessions = session_factory(engine)
        self.store = {each.__name__: each for each in store_activities(engine, artifacts)}
        self.played: Counter[str] = Counter()
        self.before_game: Callable[[PlayRequest], None] = lambda request: None
        """Called in the playing thread; may raise, or wait."""
        self.most_under_way = 0
        self._playing: Counter[str] = Counter()
        self._lock = threading.RLock()

    def make(self, project: str | None = None, **spec: Any) -> str:
        """A new tournament; its id."""
        checked = check_tournament({"game": TIC_TAC_TOE, "seed": 7, **spec} if "trial" not in spec else spec)
        with self.sessions.begin() as session:
            return create_tournament(session, project or new_id(), checked).id

    @property
    def under_way(self) -> int:
        """Batches that are being played; a second attempt at one that was given up as lost is the same batch."""
        with self._lock:
            return sum(count > 0 for count in self._playing.values())

    @activity.defn(name=play_games.name)
    def play(self, request: PlayRequest) -> PlayOutcome:
        with self._lock:
            self._playing[request.occasion] += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            self.before_game(request)
            played = MatchHost(self.artifacts.root_url).play(match_task(request))
            outcome = pack_games(games_of(played), self.artifacts)
        finally:
            with self._lock:
                self._playing[request.occasion] -= 1
        self.played[request.occasion] += 1
        return outcome

    @asynccontextmanager
    async def workers(self, client: Client) -> AsyncIterator[None]:
        """Workers for all three queues; leaving the block kills what is under way.

        Do not leave it while games end whose tournament is over: now and then the SDK's worker then never stops.
        """
        with ThreadPoolExecutor(16) as threads:
            async with AsyncExitStack() as stack:
                # outside the sandbox, which is slow to set up; recorded histories are replayed inside
                runner = UnsandboxedWorkflowRunner()
                league = Worker(client, task_queue=Queue.LEAGUE, workflows=WORKFLOWS, workflow_runner=runner)
                await stack.enter_async_context(league)
                for queue, activities in ((Queue.STORE, [*self.store.values()]), (Queue.PLAY, [self.play])):
                    worker = Worker(client, task_queue=queue, activities=activities, activity_executor=threads)
                    await stack.enter_async_context(worker)
                yield

    async def hold(self, client: Client, *tournaments: str) -> list[str]:
        """Hold the tournaments with workers of this block's own, to their ends."""
        async with self.workers(client):
            handles = [await self.start(client, tournament) for tournament in tournaments]
            return [await asyncio.wait_for(handle.result(), PATIENCE) for handle in handles]

    async def start(self, client: Client, tournament: str, **options: Any) -> WorkflowHandle[Any, str]:
        return await client.start_workflow(
            "TournamentWorkflow",
            TournamentState(tournament=tournament),
            id=tournament_workflow_id(tournament),
            task_queue=Queue.LEAGUE,
            result_type=str,
            **options,
        )

    def row(self, tournament: str) -> Tournament:
        with self.sessions() as session:
            return session.get_one(Tournament, tournament)

    def pairings(self, tournament: str) -> list[PlannedKey]:
        """Round, pair, who meets whom, games and seed of every pairing."""
        query = select(Pairing.round, Pairing.pair, Pairing.first, Pairing.second, Pairing.games, Pairing.seed)
        with self.sessions() as session:
            rows = session.execute(query.where(Pairing.tournament_id == tournament))
            return sorted(tuple(row) for row in rows)

    def games(self, tournament: str) -> list[tuple[Any, ...]]:
        """Every recorded game by its key, with its moves and result."""
        query = select(Match.round, Match.pair, Match.seat, Match.seed, Match.result, Match.moves)
        with self.sessions() as session:
            rows = session.execute(query.where(Match.tournament_id == tournament))
            return sorted((*row[:5], tuple(row[5])) for row in rows)

    def labels(self, tournament: str) -> list[str]:
        query = select(TournamentEntrant.label).where(TournamentEntrant.tournament_id == tournament)
        with self.sessions() as session:
            return list(session.scalars(query.order_by(TournamentEntrant.number)))

    def count(self, model: type[Base], *conditions: Any) -> int:
        with self.sessions() as session:
            return session.scalar(select(func.count()).select_from(model).where(*conditions)) or 0

    def rows(self, model: type[Any], *conditions: Any) -> Sequence[Any]:
        with self.sessions() as session:
            return session.scalars(select(model).where(*conditions)).all()


def graded(count: int) -> list[str]:
    """Bots of graded strength."""
    return ["bot:random", *(f"bot:minimax-{skill / count:.2f}" for skill in range(1, count))]


def lost_worker() -> ApplicationError:
    return ApplicationError("the process died", type="crew_lost")
