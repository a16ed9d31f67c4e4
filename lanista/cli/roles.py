"""Run one process of a cluster: `lanista migrate`, `lanista api`, `lanista worker store`, `lanista worker train`."""

from __future__ import annotations

import asyncio
import logging
import os
import sys

import typer

from lanista.cli.terminal import out
from lanista.stack.errors import StackError

worker = typer.Typer(help="Run one worker in the foreground, as on a cluster.", no_args_is_help=True)


@worker.command("store")
def store() -> None:
    """Run the store worker: workflows, and activities that use the database."""
    from api.settings import StoreSettings
    from api.worker import run_store_worker

    asyncio.run(run_store_worker(StoreSettings.load()))
    _exit_now()


@worker.command("train")
def train() -> None:
    """Run the train worker: the queues train, play and interactive."""
    from lanista.stack.child_environment import forget_secrets_of_others
    from lanista.stack.external import require_ray
    from workers.settings import WorkerSettings
    from workers.worker import run_train_worker

    settings = WorkerSettings.load()
    forget_secrets_of_others(WorkerSettings)
    if settings.ray_address != "auto":
        require_ray(settings.ray_address)
    try:
        asyncio.run(run_train_worker(settings))
    except ConnectionError as error:  # what Ray raises when there is no head
        raise StackError(f"RAY_ADDRESS={settings.ray_address!r}: no Ray cluster can be joined there: {error}") from None
    _exit_now()


def _exit_now() -> None:
    """Exit without interpreter shutdown, during which threads of Temporal's core can abort the process."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def api() -> None:
    """Serve the REST API and the page."""
    from api.settings import ApiSettings
    from api.web.app import run_api

    run_api(ApiSettings.load())


def migrate() -> None:
    """Migrate the database's schema and exit. Safe to repeat and to run concurrently."""
    from sqlalchemy.exc import OperationalError

    from api.settings import StoreSettings
    from api.store.core.migrate import upgrade

    settings = StoreSettings.load()
    try:
        revision = upgrade(settings.database_url.get_secret_value())
    except OperationalError as error:
        raise StackError(f"LANISTA_DATABASE_URL: Postgres does not answer: {error.orig}") from None
    out.print(f"The schema is at revision {revision}.", highlight=False)
