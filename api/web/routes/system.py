"""What this installation is: versions, parts, workers, queues, Ray, and where its other pages are."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request
from pydantic import Field

from api.schemas.base import Shape, Utc
from api.web.auth.scopes import Viewer
from api.web.live.health_checks import Readiness
from api.web.responses.serialization import ReadyRoute
from api.web.services import Api

router = APIRouter(route_class=ReadyRoute, prefix="/api/v1", tags=["system"])


class WorkerShown(Shape):
    """A worker process at one queue; a process that serves three queues is three of these."""

    identity: str = Field(description="process and host, as Temporal knows them", examples=["4711@host-a"])
    queue: str = Field(description="league, store, train, play or interactive", examples=["train"])
    last_seen: Utc = Field(
        description="when it last asked for work: it asks each minute, or when a task ends; forgotten after 5 minutes"
    )


class QueueShown(Shape):
    """A task queue."""

    name: str = Field(description="league, store, train, play or interactive", examples=["train"])
    backlog: int = Field(description="tasks that wait for a worker, approximately", examples=[3])
    backlog_age_seconds: float = Field(description="how long the oldest of them waits, approximately", examples=[1.5])
    pollers: int = Field(description="worker processes that ask here for work", examples=[1])


class RayNodeShown(Shape):
    """A machine of the Ray cluster."""

    address: str = Field(description="its address", examples=["10.0.0.1"])
    alive: bool = Field(description="whether Ray counts on it")
    cpus: float = Field(description="CPUs it brings", examples=[8.0])
    memory_bytes: int = Field(description="memory it brings", examples=[17179869184])
    object_store_bytes: int = Field(description="shared memory it brings for objects", examples=[4294967296])


class RayShown(Shape):
    """What Ray has, and what of it no task has reserved."""

    version: str = Field(description="version of Ray", examples=["2.60.0"])
    cpus: float = Field(description="CPUs of the cluster", examples=[8.0])
    cpus_available: float = Field(description="CPUs that are free", examples=[2.0])
    gpus: float = Field(description="GPUs of the cluster", examples=[0.0])
    gpus_available: float = Field(description="GPUs that are free", examples=[0.0])
    memory_bytes: int = Field(description="memory for tasks and actors", examples=[17179869184])
    memory_available_bytes: int = Field(description="of it not reserved", examples=[17179869184])
    object_store_bytes: int = Field(description="shared memory for objects", examples=[4294967296])
    object_store_available_bytes: int = Field(description="of it free", examples=[4290000000])
    nodes: list[RayNodeShown] = Field(description="the machines")


class System(Shape):
    """The installation at a glance."""

    version: str = Field(description="version of Lanista", examples=["0.1.0"])
    readiness: Readiness = Field(description="which parts answer")
    links: dict[str, str] = Field(
        description="pages of other parts by name: tensorboard, temporal", examples=[{"tensorboard": "http://..."}]
    )
    workers: list[WorkerShown] | None = Field(description="who asks for work; null while Temporal does not answer")
    queues: list[QueueShown] | None = Field(description="what waits; null while Temporal does not answer")
    ray: RayShown | None = Field(description="what Ray has and has left; null while no train worker tells")
    unknown: dict[str, str] = Field(
        description="why `workers`, `queues` or `ray` is null, by name",
        examples=[{"ray": "no train worker is there to ask"}],
    )


@router.get("/system", summary="The installation at a glance")
async def system(request: Request, services: Api, principal: Viewer) -> System:
    """Version, the state of each part, workers, queues, Ray's resources, and links to TensorBoard and Temporal's page.

    Workers, queues and Ray are at most a few seconds old; what is not known within a second is null, with the reason
    in `unknown`.
    """
    settings, fleet = services.settings, services.fleet
    links = {"tensorboard": settings.tensorboard_url, "temporal": settings.temporal_ui_url}
    readiness, attendance, ray = await asyncio.gather(
        request.app.state.readiness.run(), fleet.attendance.get(), fleet.ray.get()
    )
    known = attendance.value
    reasons = {"workers": attendance.reason, "queues": attendance.reason, "ray": ray.reason}
    return System(
        version=request.app.version,
        readiness=readiness,
        links={name: url for name, url in links.items() if url},
        workers=None if known is None else [WorkerShown.model_validate(worker) for worker in known.workers],
        queues=None if known is None else [QueueShown.model_validate(queue) for queue in known.queues],
        ray=None if ray.value is None else RayShown.model_validate(ray.value),
        unknown={name: reason for name, reason in reasons.items() if reason},
    )
