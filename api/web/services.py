"""The services that routes share: settings, database sessions, Temporal, and what is made from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from fastapi import Depends, Request
from temporalio.client import Client

from api.schemas.installation.crew_queue import CrewQueue
from api.settings import ApiSettings
from api.store.core.engine import Engine, Sessions, session_factory, snapshot_factory
from api.web.auth.sessions import SessionSigner
from api.web.auth.tokens import TokenLookup
from api.web.cache import Cache
from api.web.live.cluster_status import ClusterStatus
from api.web.live.feed import EventFeed
from api.web.live.open_streams import OpenStreams
from api.web.live.postgres_clock import PostgresClock
from api.web.live.system_history import HistorySampler
from api.web.reports.payoff_documents import PayoffDocuments
from api.web.reports.tournament_cache import TournamentReports
from api.web.temporal.schedules import TemporalSchedules
from api.web.temporal.start_workflows import WorkflowStarter
from api.web.tensorboard_proxy import TensorBoardProxy
from api.web.uploads import Uploads
from api.web.validation.spec_reader import SpecReader
from orchestrator.storage.artifacts import ArtifactStore

MAX_RATING_PAGES = 256
MAX_METRIC_PAGES = 64
LARGEST_METRIC_PAGE = 1_000_000
MAX_SHARED = 32
SHARED_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class Services:
    """Made once, when the API starts. A route gets it by the parameter type `Api`."""

    settings: ApiSettings
    engine: Engine
    sessions: Sessions
    temporal: Client
    tokens: TokenLookup
    signer: SessionSigner
    trial_starter: WorkflowStarter
    tournament_starter: WorkflowStarter
    sweep_starter: WorkflowStarter
    probe_starter: WorkflowStarter
    schedules: TemporalSchedules
    feed: EventFeed
    payoffs: PayoffDocuments
    reports: TournamentReports
    artifacts: ArtifactStore
    cluster: ClusterStatus
    postgres_clock: PostgresClock
    history: HistorySampler
    streams: OpenStreams
    tensorboard: TensorBoardProxy | None
    spec_reader: SpecReader
    uploads: Uploads

    @cached_property
    def reads(self) -> Sessions:
        """Sessions in autocommit mode: a single read needs no transaction, which would cost two round trips."""
        return session_factory(self.engine.execution_options(isolation_level="AUTOCOMMIT"))

    @cached_property
    def snapshots(self) -> Sessions:
        """Sessions that read one snapshot of the database, for answers put together from several queries."""
        return snapshot_factory(self.engine)

    @cached_property
    def shared_documents(self) -> Cache[bytes]:
        """What shared links show, for a few seconds: whoever has one may open it at any rate."""
        return Cache[bytes](MAX_SHARED, ttl=SHARED_SECONDS)

    @cached_property
    def rating_pages(self) -> Cache[bytes]:
        """Pages of fits, as they are sent."""
        return Cache[bytes](MAX_RATING_PAGES)

    @cached_property
    def metric_pages(self) -> Cache[bytes]:
        """Pages of series, as they are sent; large ones are written for each reader."""
        return Cache[bytes](MAX_METRIC_PAGES, keep=lambda page: len(page) <= LARGEST_METRIC_PAGE)

    @cached_property
    def crew_queues(self) -> Cache[CrewQueue]:
        """Nothing is kept; but readers share one answer under way, for which Temporal is asked about every learner."""
        return Cache[CrewQueue](1, ttl=0)


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


Api = Annotated[Services, Depends(_services)]
