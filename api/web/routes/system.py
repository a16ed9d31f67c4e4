"""The state of the installation: versions, parts, workers, queues, Ray, gateways, links."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from fastapi import APIRouter, Request

from api.schemas.installation.system import GatewayShown, QueueShown, RayShown, System, WorkerShown
from api.web.auth.chart_tickets import issue_ticket
from api.web.auth.scopes import Viewer
from api.web.auth.tokens import Principal
from api.web.responses.serialization import SerializingRoute
from api.web.services import Api, Services
from api.web.tensorboard import PATH
from orchestrator.contracts.interactive import GatewaySeen

router = APIRouter(route_class=SerializingRoute, prefix="/api/v1", tags=["system"])


@router.get("/system", summary="Get the state of the installation")
async def system(request: Request, services: Api, principal: Viewer) -> System:
    """Version, state of each part, workers, queues, Ray, gateways, and links to TensorBoard and Temporal.

    The link to TensorBoard is the caller's own: it works for half a day, and until its session or token is over.

    Workers, queues, Ray and gateways are at most a few seconds old; what is not known within a second is null, with the
    reason in `unknown`.
    """
    settings, cluster = services.settings, services.cluster
    links = {"tensorboard": _tensorboard(request, services, principal), "temporal": settings.temporal_ui_url}
    readiness, task_queues, ray, gateways = await asyncio.gather(
        request.app.state.readiness.run(), cluster.task_queues(), cluster.ray(), cluster.gateways()
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
        ray=None if ray.value is None else RayShown.model_validate(asdict(ray.value)),
        gateways=None if at_gateways is None else [_gateway(each) for each in at_gateways.gateways],
        unknown={name: reason for name, reason in reasons.items() if reason},
    )


def _gateway(seen: GatewaySeen) -> GatewayShown:
    return GatewayShown.model_validate(asdict(seen))


def _tensorboard(request: Request, services: Services, principal: Principal) -> str:
    if services.settings.tensorboard_url or services.tensorboard is None:
        return services.settings.tensorboard_url
    return f"{request.base_url}{PATH[1:]}/{issue_ticket(services.signer, principal)}/"
