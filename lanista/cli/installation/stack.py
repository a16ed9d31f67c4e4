"""`lanista up`, `down` and `status`."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from lanista.cli.options import HomeOption, JsonOption
from lanista.cli.terminal import coloured, errors, out, print_json, print_line
from lanista.settings import StackSettings, check_roles
from lanista.stack import control as remote
from lanista.stack.errors import AlreadyRunning, StackError
from lanista.stack.home import Home, StackState
from lanista.stack.sign_in_link import sign_in_link


def load_settings(**given: Any) -> StackSettings:
    """The settings, overridden by options of the command line."""
    return StackSettings.load(**{name: value for name, value in given.items() if value is not None})


def up(
    port: Annotated[int | None, typer.Option(help="Port of the API and the page (default 8800).")] = None,
    home: HomeOption = None,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Run in the background; return when ready.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --detach: print JSON for programs.")] = False,
) -> None:
    """Start the local stack: Postgres, Temporal, Ray, the workers, the API and TensorBoard."""
    if as_json and not detach:
        raise typer.BadParameter("needs --detach: in the foreground only logs are printed", param_hint="--json")
    settings = load_settings(port=port, home=home)
    check_roles()
    home_folder = Home(settings.home)
    if detach:
        before = home_folder.is_supervised()
        ready = up_detached(settings, quiet=as_json)
        if as_json:
            print_json({"running": True, "ran_before": before, "home": str(home_folder.root), **asdict(ready)})
        return
    import structlog

    from lanista.stack.bootstrap import bootstrap
    from lanista.stack.supervisor import Supervisor
    from orchestrator.logs import configure_logs

    log = structlog.get_logger()

    os.umask(0o077)  # files of the parts are private to this user
    configure_logs(settings, role="supervisor")
    pretty = settings.log_format == "pretty" or (settings.log_format == "auto" and out.is_terminal)

    async def run() -> None:
        on_ready = (lambda state: print_sign_in_link(state, home_folder)) if pretty else None
        await Supervisor(settings, say=say if pretty else log.info, bootstrap=bootstrap, on_ready=on_ready).run()

    try:
        asyncio.run(run())
    except AlreadyRunning as answer:
        print_line(escape(str(answer)))
        if pretty and (state := home_folder.live_state()) and state.ready:
            print_sign_in_link(state, home_folder)


RECOVERY_WORTH_A_LINE = 3.0
"""Seconds. Every start looks like a recovery at first, even after a clean shutdown."""


def up_detached(settings: StackSettings, *, quiet: bool = False) -> StackState:
    """Start in the background and show progress; prints the address unless `quiet`."""
    home = Home(settings.home)
    running = home.is_supervised()
    if running and not quiet:
        from lanista.stack.supervisor import describe_running_stack

        print_line(escape(describe_running_stack(home)))
    with errors.status("Starting …") as spinner:
        since: dict[str, float] = {}
        told: set[str] = set()

        def progress(state: StackState) -> None:
            for name in remote.recovering(state):
                began = since.setdefault(name, time.monotonic())
                if name not in told and time.monotonic() - began >= RECOVERY_WORTH_A_LINE:
                    errors.print(f"{name} is recovering from its log; this can take a while.")
                    told.add(name)
            waiting = [name for name, child in state.children.items() if child.state != "ready"]
            spinner.update(f"Starting: waiting for {', '.join(waiting) or 'nothing'} …")

        if running:
            state = remote.wait_until_ready(home, progress, lambda: _require_running(home))
        else:
            arguments = ["--port", str(settings.port), "--home", str(home.root)]
            state = remote.start_detached(settings, arguments, progress)
    if quiet:
        return state
    if not running:
        print_line(f"Lanista is ready: [bold]{escape(state.page)}[/] (data folder {escape(str(home.root))})")
    print_sign_in_link(state, home)
    return state


def print_sign_in_link(state: StackState, home: Home) -> None:
    """Print a link that signs a browser in. It works once and for ten minutes; `lanista up` prints another.

    The link opens an admin session, so it is printed only to a terminal, never to redirected output.
    """
    if not sys.stdout.isatty():
        return
    with suppress(OSError, SystemExit):  # a closed terminal must not end the stack
        print_line(f"Sign in once with: [bold]{escape(sign_in_link(state.page, home))}[/]")


def _require_running(home: Home) -> None:
    if not home.is_supervised():
        raise StackError(f"The stack with the data folder {home.root} was stopped in the meantime.")


def say(message: str) -> None:
    """Print a line of the supervisor; a closed terminal must not end the stack."""
    stamp = datetime.now().astimezone().strftime("%H:%M:%S")
    with suppress(OSError, SystemExit):  # rich exits the program when the pipe is closed
        print_line(f"[dim]{stamp}[/] {escape(message)}")


def down(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Stop the local stack and all its processes; data stays."""
    where = Home(load_settings(home=home).home)
    parts = remote.running_parts(where)
    with errors.status("Stopping …"):
        stopped = remote.stop(where)
    if as_json:
        print_json({"stopped": stopped, "home": str(where.root), "parts": parts if stopped else []})
    else:
        print_line("Stopped." if stopped else f"No stack runs with the data folder {escape(str(where.root))}.")


def status(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show each part of the local stack, and the last log lines of a part that keeps failing.

    Exit code 0 if everything is ready, else 1.
    """
    where = Home(load_settings(home=home).home)
    state, supervised = where.live_state(), where.is_supervised()
    if as_json:
        print_json({"running": supervised, "home": str(where.root), "ready": False, **(asdict(state) if state else {})})
    elif state:
        _show(where, state)
    elif supervised:
        print_line(f"Lanista is starting with the data folder {escape(str(where.root))}.")
    else:
        _show_absent(where)
    if not (state and state.ready):
        raise typer.Exit(1)


def _show_absent(home: Home) -> None:
    print_line(f"Lanista does not run with the data folder {escape(str(home.root))}.")
    if left := remote.orphans(home):
        print_line(
            f"[yellow]{len(left)} processes of a dead supervisor are still running; `lanista up` replaces them, "
            "`lanista down` ends them.[/]"
        )
    else:
        print_line("Start it with `lanista up`.")


def _show(home: Home, state: StackState) -> None:
    print_line(escape(f"{state.page} · since {state.started} · data folder {home.root} {state.note}".rstrip()))
    table = Table("part", "state", "pid", "restarts", "last exit", "address")
    for name, child in state.children.items():
        details = (str(child.pid or ""), str(child.restarts), escape(child.last_exit), escape(child.address))
        table.add_row(name, coloured(child.state), *details)
    out.print(table)
    for name, child in state.children.items():
        if child.state == "failing":
            print_line(f"[red]{escape(remote.explain_failure(home, state, name))}[/]")
