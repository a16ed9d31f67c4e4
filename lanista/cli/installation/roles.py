"""Run one process of a cluster: `lanista migrate`, `api`, `gateway`, `worker store` or `worker train`."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated

import typer

from lanista.cli.ending import exit_now
from lanista.cli.terminal import out
from lanista.stack.errors import StackError
from orchestrator.settings import LogSettings

worker = typer.Typer(help="Run one worker in the foreground, as on a cluster.", no_args_is_help=True)


@worker.command("store")
def store() -> None:
    """Run the store worker: workflows, and activities that use the database."""
    from api.settings import StoreSettings
    from api.worker import run_store_worker

    asyncio.run(run_store_worker(StoreSettings.load()))
    exit_now()


@worker.command("train")
def train() -> None:
    """Run the train worker: the queues train, play and interactive."""
    from lanista.stack.external import require_ray
    from lanista.stack.processes.child_environment import forget_secrets_of_others, hide_own_secrets
    from workers.settings import WorkerSettings
    from workers.worker import run_train_worker

    settings = WorkerSettings.load()
    forget_secrets_of_others(WorkerSettings)
    hide_own_secrets(WorkerSettings)
    if settings.ray_address != "auto":
        require_ray(settings.ray_address)
    try:
        asyncio.run(run_train_worker(settings))
    except ConnectionError as error:  # what Ray raises when there is no head
        raise StackError(f"RAY_ADDRESS={settings.ray_address!r}: no Ray cluster can be joined there: {error}") from None
    exit_now()


@worker.command("promote")
def promote(
    role: Annotated[str, typer.Argument(help="store or train: the workers whose tasks are meant.")],
    build: Annotated[str | None, typer.Option(help="Build that gets the tasks (LANISTA_TEMPORAL_BUILD_ID).")] = None,
    deployment: Annotated[str | None, typer.Option(help="Deployment (LANISTA_TEMPORAL_DEPLOYMENT).")] = None,
    nothing: Annotated[
        bool, typer.Option("--nothing", help="Give the tasks to workers without a deployment instead.")
    ] = False,
) -> None:
    """Make a build of the workers the current one of their deployment: it gets the tasks from now on."""
    from orchestrator.settings import TemporalSettings
    from orchestrator.temporal import connect
    from orchestrator.temporal.deployment import Deployment, withdraw
    from orchestrator.temporal.deployment import promote as make_current

    if role not in ("store", "train"):
        raise typer.BadParameter("must be store or train", param_hint="ROLE")
    given = {"temporal_deployment": deployment, "temporal_build_id": build}
    settings = TemporalSettings.load(**{name: value for name, value in given.items() if value is not None})
    chosen = Deployment.of(settings, role)
    if chosen is None:
        raise StackError("LANISTA_TEMPORAL_DEPLOYMENT is not set: without a deployment every worker gets tasks.")

    async def give_tasks() -> str:
        client = await connect(settings)
        if nothing:
            await withdraw(client, chosen.name, patience=10)
            return f"Workers without a deployment get the tasks of {chosen.name}."
        await make_current(client, chosen, patience=10)
        return f"Build {chosen.build_id} gets the tasks of {chosen.name}."

    out.print(asyncio.run(give_tasks()), highlight=False)
    exit_now()


def api() -> None:
    """Serve the REST API and the page."""
    from api.settings import ApiSettings
    from api.web.app import run_api

    run_api(ApiSettings.load())


def gateway(
    host: Annotated[str | None, typer.Option(help="Address for games (LANISTA_GATEWAY_HOST).")] = None,
    port: Annotated[int | None, typer.Option(help="Port for HTTP (LANISTA_GATEWAY_PORT); 0: none.")] = None,
    tcp_port: Annotated[int | None, typer.Option(help="Port for TCP (LANISTA_GATEWAY_TCP_PORT); 0: none.")] = None,
    grpc_port: Annotated[int | None, typer.Option(help="Port for gRPC (LANISTA_GATEWAY_GRPC_PORT); 0: none.")] = None,
    processes: Annotated[
        int | None, typer.Option(help="Processes that share the ports (LANISTA_GATEWAY_PROCESSES).")
    ] = None,
) -> None:
    """Run a gateway: games call in there, to train, to be gated and rated in a league."""
    from lanista.stack.processes.child_environment import forget_secrets_of_others, hide_own_secrets
    from orchestrator.logs import configure_logs
    from orchestrator.worker_process import announce_ready
    from workers.gateway.league.joining import JoinLeague
    from workers.gateway.league.settings import LeagueGatewaySettings
    from workers.gateway.process import run_gateway

    given = {"host": host, "port": port, "tcp_port": tcp_port, "grpc_port": grpc_port, "processes": processes}
    settings = LeagueGatewaySettings.load(
        **{f"gateway_{name}": value for name, value in given.items() if value is not None}
    )
    forget_secrets_of_others(LeagueGatewaySettings)
    hide_own_secrets(LeagueGatewaySettings)
    prepare = partial(configure_logs, LogSettings.load(), role="gateway")
    prepare()
    key = settings.gateway_control_key
    if key is None:
        raise StackError("LANISTA_GATEWAY_CONTROL_KEY is not set: train workers and gateways need the same secret.")
    build = JoinLeague(
        artifacts=settings.artifacts,
        key=key.get_secret_value(),
        host=settings.gateway_control_host,
        port=settings.gateway_control_port,
        tls_cert=settings.gateway_control_tls_cert,
        tls_key=settings.gateway_control_tls_key,
    )

    def ready(ports: dict[str, int]) -> None:
        announce_ready()
        listening = ", ".join(f"{name} {settings.gateway_host}:{port}" for name, port in ports.items())
        out.print(f"Games call in at {listening}.", highlight=False)

    run_gateway(settings.gateway_options, build, on_ready=ready, prepare=prepare)


def migrate() -> None:
    """Migrate the database's schema and exit. Safe to repeat and to run concurrently."""
    from sqlalchemy.exc import OperationalError

    from api.settings import StoreSettings
    from api.store.core.migrate import upgrade

    settings = StoreSettings.load()
    try:
        revision = upgrade(settings.database_url.get_secret_value(), app_role=settings.database_app_role)
    except OperationalError as error:
        raise StackError(f"LANISTA_DATABASE_URL: Postgres does not answer: {error.orig}") from None
    out.print(f"The schema is at revision {revision}.", highlight=False)
