"""`lanista demo`: the whole system at work, with one command."""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import suppress
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table
from temporalio.client import WorkflowFailureError

from lanista.cli.stack import HomeOption, load_settings, up_detached
from lanista.cli.terminal import errors, out, print_line
from lanista.settings import StackSettings
from lanista.stack import remote
from lanista.stack.errors import StackError
from lanista.stack.home import Home
from lanista.system_check import check_system
from orchestrator.contracts import SystemReport
from orchestrator.settings import TemporalSettings
from orchestrator.temporal import connect


def demo(
    port: Annotated[int | None, typer.Option(help="Port of the API and the page (default 8800).")] = None,
    home: HomeOption = None,
    leave: Annotated[bool, typer.Option("--exit", help="Return when done and stop what was started.")] = False,
) -> None:
    """Start the stack if none runs, send a workflow through every part, and leave the page open until Ctrl-C."""
    settings = load_settings(port=port, home=home)
    where = Home(settings.home)
    ours = not where.is_supervised()
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, _interrupt)
    try:
        state = up_detached(settings)
        _show(asyncio.run(_check(settings)))
        print_line(f"\nThe page: [bold]{escape(state.page)}[/]")
        if not leave:
            print_line("Ctrl-C ends the demonstration.")
            with suppress(KeyboardInterrupt):
                threading.Event().wait()
    finally:
        if ours:
            with errors.status("Stopping …"):
                remote.stop(where)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


async def _check(settings: StackSettings) -> SystemReport:
    address = remote.reach(Home(settings.home))["LANISTA_TEMPORAL_ADDRESS"]
    client = await connect(TemporalSettings.load(temporal_address=address))
    try:
        return await check_system(client)
    except WorkflowFailureError as error:
        raise StackError(
            f"The workflow did not get through: {error.cause}. `lanista doctor` looks at each part."
        ) from None


def _show(report: SystemReport) -> None:
    table = Table("queue", "proof", "milliseconds", title="One workflow through every part")
    for part in report.parts:
        table.add_row(part.part, part.detail, f"{part.milliseconds:.1f}")
    out.print(table)
