"""The state of the installation: versions, parts, workers, queues, Ray, gateways, links."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from api.schemas.base import LARGEST
from api.schemas.installation.crew_queue import CrewQueue
from api.schemas.installation.system import (
    GatewayShown,
    LogFiles,
    LogLines,
    QueueShown,
    RayShown,
    SilentPart,
    SilentParts,
    System,
    SystemHistory,
    WorkerShown,
)
from api.web.auth.chart_tickets import issue_ticket
from api.web.auth.scopes import Admin, Viewer
from api.web.auth.tokens import Principal
from api.web.live.cluster_status import silent_workers
from api.web.live.crew_queue import shared_crew_queue
from api.web.live.hosts import describe_hosts, describe_unreached
from api.web.live.logs import PART, last_lines, log_files
from api.web.problems import ProblemError
from api.web.responses.serialization import SerializingRoute
from api.web.services import Api, Services
from api.web.tensorboard import PATH
from orchestrator.contracts.interactive import GatewaySeen

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1", tags=["system"])


@router.get("/system", summary="Get the state of the installation")
async def system(request: Request, services: Api, principal: Viewer) -> System:
    """Version, state of each part, workers, queues, Ray, gateways, and links to TensorBoard and Temporal.

    The link to TensorBoard is the caller's own: it works for half a day, and until its session or token is over.

    Hosts are shown with their roles, releases, clocks and problems, and connections that cannot be made between them.
    Workers, queues, Ray and gateways are at most a few seconds old; what is not known within a second is null, with the
    reason in `unknown`.
    """
    settings, cluster = services.settings, services.cluster
    links = {"tensorboard": _tensorboard(request, services, principal), "temporal": settings.temporal_ui_url}
    readiness, task_queues, ray, gateways, postgres = await asyncio.gather(
        request.app.state.readiness.run(),
        cluster.task_queues(),
        cluster.ray_seen(),
        cluster.gateways(),
        services.postgres_clock.read(),
    )
    known = task_queues.value
    at_gateways = gateways.value
    reasons = {
        "workers": task_queues.reason,
        "queues": task_queues.reason,
        "ray": ray.reason,
        "gateways": gateways.reason,
    }
    return System(
        version=request.app.version,
        readiness=readiness,
        links={name: url for name, url in links.items() if url},
        workers=None if known is None else [WorkerShown.model_validate(asdict(worker)) for worker in known.workers],
        queues=None if known is None else [QueueShown.model_validate(asdict(queue)) for queue in known.queues],
        ray=None if ray.value is None else RayShown.model_validate(asdict(ray.value.resources)),
        gateways=None if at_gateways is None else [_gateway(each) for each in at_gateways.gateways],
        hosts=describe_hosts(
            now=datetime.now(UTC),
            api_host=socket.gethostname(),
            release=request.app.version,
            workers=[] if known is None else known.workers,
            ray=ray.value,
            postgres=postgres,
        ),
        unreached=describe_unreached(ray.value),
        unknown={name: reason for name, reason in reasons.items() if reason},
    )


@router.get("/system/silent", summary="List the parts that do not work")
async def silent(request: Request, services: Api, principal: Viewer) -> SilentParts:
    """Parts that do not answer, and kinds of workers that do not poll. The page asks every few seconds."""
    readiness, task_queues = await asyncio.gather(request.app.state.readiness.run(), services.cluster.task_queues())
    dead = {name: part.detail for name, part in readiness.parts.items() if not part.ok}
    if task_queues.value is not None:
        dead |= silent_workers(task_queues.value, datetime.now(UTC))
    return SilentParts(parts=[SilentPart(name=name, problem=problem) for name, problem in dead.items()])


@router.get("/system/queue", summary="Get who waits for whom")
async def queue(services: Api, principal: Viewer) -> CrewQueue:
    """The trials that share crews: what share each is due, what it trains, what waits, since when and behind whom."""
    return await shared_crew_queue(services)


@router.get("/system/history", summary="Get measures of the last hour")
async def history(services: Api, principal: Viewer) -> SystemHistory:
    """CPU, memory, CPUs reserved in Ray, and queue lengths, every ten seconds. Kept in memory by this API process."""
    return services.history.history()


@router.get("/system/logs", summary="List the logs of the parts")
def logs(services: Api, principal: Admin) -> LogFiles:
    """The logs in the folder `LANISTA_LOG_FOLDER`; the local stack sets it."""
    return LogFiles(items=log_files(services.settings.log_folder))


@router.get("/system/logs/{part}", summary="Get the last lines of a log")
def log_lines(
    part: Annotated[str, Path(pattern=PART, description="the part", examples=["train-worker"])],
    services: Api,
    principal: Admin,
    lines: Annotated[int, Query(ge=1, le=1000, description="the largest number of lines")] = 200,
    after: Annotated[int | None, Query(ge=0, le=LARGEST, description="only what follows this `end`")] = None,
) -> LogLines:
    """The last lines, without secrets."""
    found = last_lines(services.settings.log_folder, part, lines=lines, after=after)
    if found is None:
        raise ProblemError(404, f"there is no log of {part}")
    return found


def _gateway(seen: GatewaySeen) -> GatewayShown:
    return GatewayShown.model_validate(asdict(seen))


def _tensorboard(request: Request, services: Services, principal: Principal) -> str:
    if services.settings.tensorboard_url or services.tensorboard is None:
        return services.settings.tensorboard_url
    return f"{request.base_url}{PATH[1:]}/{issue_ticket(services.signer, principal)}/"
