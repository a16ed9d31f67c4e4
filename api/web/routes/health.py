"""Liveness, readiness and metrics, at the root."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from api.schemas.installation.system import Liveness, Readiness
from api.web.responses.serialization import SerializingRoute

router = APIRouter(route_class=SerializingRoute, tags=["health"])


@router.get("/healthz", summary="Liveness")
async def healthz(request: Request) -> Liveness:
    """Answers while the process is alive; checks nothing else."""
    return Liveness(version=request.app.version)


@router.get("/readyz", summary="Readiness of Postgres, Temporal and Ray", responses={503: {"model": Readiness}})
async def readyz(request: Request, response: Response) -> Readiness:
    """Checks each part by name; 503 if one of them does not answer."""
    readiness: Readiness = await request.app.state.readiness.run()
    if not readiness.ready:
        response.status_code = 503
    return readiness


@router.get("/metrics", summary="Metrics for Prometheus", response_class=Response)
async def metrics(request: Request) -> Response:
    """The Prometheus text format."""
    return Response(generate_latest(request.app.state.metrics.registry), media_type=CONTENT_TYPE_LATEST)
