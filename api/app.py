"""The web application: REST API and page, made from settings; nothing happens on import."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

from api.http_metrics import HttpMetrics, ObserveRequests
from api.problems import install_problem_handlers
from api.readiness import ReadinessChecks
from api.routes import health, system
from api.settings import ApiSettings
from api.store.engine import create_store_engine
from orchestrator.logs import configure_logs
from orchestrator.temporal import connect

PAGE = Path(__file__).parent / "page"


def create_app(settings: ApiSettings) -> FastAPI:
    """The application for these settings."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        engine = create_store_engine(settings.database_url.get_secret_value())
        temporal = await connect(settings, lazy=True)
        app.state.readiness = ReadinessChecks(engine, temporal, settings.ray_address)
        yield
        engine.dispose()

    app = FastAPI(
        title="Lanista",
        version=version("lanista"),
        summary="Durable league training for game-playing agents.",
        lifespan=lifespan,
        docs_url=None,  # its page would load scripts from another host
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.metrics = HttpMetrics()
    app.add_middleware(ObserveRequests, metrics=app.state.metrics)
    install_problem_handlers(app)
    app.include_router(health.router)
    app.include_router(system.router)
    app.mount("/static", StaticFiles(directory=PAGE / "static"), name="static")

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html")

    return app


def run_api(settings: ApiSettings) -> None:
    """Serve until stopped."""
    configure_logs(settings, role="api")
    app = create_app(settings)
    uvicorn.run(app, host=settings.host, port=settings.port, log_config=None, access_log=False)
