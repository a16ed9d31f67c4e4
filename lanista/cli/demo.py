"""`lanista demo`: the whole system at work, with one command."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import Annotated

import typer
from rich.table import Table

from lanista.cli.stack import HomeOption, load_settings, up_detached
from lanista.cli.terminal import errors, out
from lanista.settings import StackSettings
from lanista.stack import remote
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
    state = up_detached(settings)
    try:
        _show(asyncio.run(_check(settings)))
        out.print(f"\nThe page: [bold]{state.page}[/]", highlight=False)
        if not leave:
            out.print("Ctrl-C ends the demonstration.")
            _wait_for_interrupt()
    finally:
        if ours:
            with errors.status("Stopping …"):
                remote.stop(where)


async def _check(settings: StackSettings) -> SystemReport:
    address = remote.reach(Home(settings.home))["LANISTA_TEMPORAL_ADDRESS"]
    return await check_system(await connect(TemporalSettings.load(temporal_address=address)))


def _show(report: SystemReport) -> None:
    table = Table("queue", "proof", "milliseconds", title="One workflow through every part")
    for part in report.parts:
        table.add_row(part.part, part.detail, f"{part.milliseconds:.1f}")
    out.print(table)


def _wait_for_interrupt() -> None:
    done = threading.Event()
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda *_: done.set())
    done.wait()
