"""`lanista up`, `down` and `status`."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from lanista.cli.terminal import coloured, errors, out, print_json
from lanista.settings import StackSettings
from lanista.stack import remote
from lanista.stack.errors import AlreadyRunning
from lanista.stack.home import Home, StackState
from orchestrator.logs import configure_logs

HomeOption = Annotated[Path | None, typer.Option("--home", help="Data folder (LANISTA_HOME; default .lanista).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def load_settings(**given: Any) -> StackSettings:
    """Settings with what the command line gave on top."""
    return StackSettings.load(**{name: value for name, value in given.items() if value is not None})


def up(
    port: Annotated[int | None, typer.Option(help="Port of the API and the page (default 8800).")] = None,
    home: HomeOption = None,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Run behind; return when ready.")] = False,
) -> None:
    """Start the local stack: Postgres, Temporal, Ray, the workers, the API and TensorBoard."""
    settings = load_settings(port=port, home=home)
    if detach:
        up_detached(settings)
        return
    from lanista.stack.bootstrap import bootstrap
    from lanista.stack.supervisor import Supervisor

    configure_logs(settings, role="supervisor")

    async def run() -> None:
        await Supervisor(settings, say=say, bootstrap=bootstrap).run()

    try:
        asyncio.run(run())
    except AlreadyRunning as answer:
        out.print(str(answer), highlight=False)


def up_detached(settings: StackSettings) -> StackState:
    """Start behind, with progress for the waiting person; says where it runs if it does already."""
    home = Home(settings.home)
    if home.is_supervised():
        from lanista.stack.supervisor import where_it_runs

        out.print(where_it_runs(home), highlight=False)
        state = home.read_state()
        if state is not None:
            return state
    arguments = ["--port", str(settings.port), "--home", str(home.root)]
    with errors.status("Starting …") as spinner:

        def progress(state: StackState) -> None:
            waiting = [name for name, child in state.children.items() if child.state != "ready"]
            spinner.update(f"Starting: waiting for {', '.join(waiting) or 'nothing more'} …")

        state = remote.start_detached(settings, arguments, progress)
    out.print(f"Lanista is ready: [bold]{state.page}[/] (data folder {escape(str(home.root))})", highlight=False)
    return state


def say(message: str) -> None:
    stamp = datetime.now().astimezone().strftime("%H:%M:%S")
    out.print(f"[dim]{stamp}[/] {escape(message)}", highlight=False, soft_wrap=True)


def down(home: HomeOption = None) -> None:
    """Stop the local stack; data stays. No process is left behind."""
    where = Home(load_settings(home=home).home)
    with errors.status("Stopping …"):
        stopped = remote.stop(where)
    out.print("Stopped." if stopped else f"Nothing runs with the data folder {where.root}.", highlight=False)


def status(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show each part of the local stack, and the last log lines of one that keeps dying.

    Exit code 0 when everything is ready, 1 otherwise.
    """
    where = Home(load_settings(home=home).home)
    state = where.read_state()
    supervised = where.is_supervised()
    if as_json:
        print_json({"running": supervised, "home": str(where.root), **(asdict(state) if state else {})})
    elif not supervised or state is None:
        _show_absent(where)
    else:
        _show(where, state)
    if not (supervised and state and state.ready):
        raise typer.Exit(1)


def _show_absent(home: Home) -> None:
    out.print(f"Lanista does not run with the data folder {home.root}.", highlight=False)
    if left := remote.orphans(home):
        out.print(
            f"[yellow]{len(left)} processes of a supervisor that died still run; `lanista up` takes over, "
            "`lanista down` ends them.[/]"
        )
    else:
        out.print("Start it with `lanista up`.")


def _show(home: Home, state: StackState) -> None:
    out.print(f"{state.page} · since {state.started} · data folder {home.root}", highlight=False)
    table = Table("part", "state", "pid", "restarts", "last end", "address")
    for name, child in state.children.items():
        pid = str(child.pid or "")
        table.add_row(name, coloured(child.state), pid, str(child.restarts), child.last_exit, child.address)
    out.print(table)
    for name, child in state.children.items():
        if child.state == "failing":
            out.print(f"[red]{name} keeps dying. Its last log lines ({home.log_file(name)}):[/]", highlight=False)
            for line in home.last_log_lines(name):
                out.print(f"  {escape(line)}", highlight=False)
