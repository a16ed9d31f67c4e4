"""`lanista demo`: trains a small league from an empty folder to a champion."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import threading
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from lanista.cli.installation.stack import load_settings, print_sign_in_link, up_detached
from lanista.cli.options import HomeOption
from lanista.cli.terminal import errors, out
from lanista.client import Client
from lanista.client.local import ApiAddress, find_api
from lanista.league_view.live import watch_trial
from lanista.league_view.tables import players_table, players_to_show
from lanista.settings import StackSettings
from lanista.stack import control as remote
from lanista.stack.home import Home
from lanista.stack.temporal_keys import TemporalKeys

if TYPE_CHECKING:
    from orchestrator.contracts import SystemReport

PROJECT = "demo"
ALIAS = "champion"
MOST_SHOWN = 16
WHAT_TO_SEE = (
    "[bold]main[/] learns by playing itself and the past. [bold]main-exploiter[/] looks for holes in it, "
    "[bold]league-exploiter[/] for holes in everybody. Each is frozen now and then; the best frozen main is champion."
)


def demo_spec(minutes: float) -> dict[str, Any]:
    """A small AlphaStar league of connect four, with generations of a few seconds so that there is much to see."""
    return {
        "game": {"id": "connect_four"},
        "league": {
            "preset": "alphastar",
            "players": [
                {"name": "main", "role": "main"},
                {"name": "main-exploiter", "role": "main_exploiter"},
                {"name": "league-exploiter", "role": "league_exploiter"},
                {"name": "random", "role": "bot", "bot": "random"},
            ],
            "snapshot": {"min_steps": 100_000, "win_rate": 0.7, "max_steps": 200_000},
        },
        "generation": {"steps": 100_000, "tables": 512},
        "evaluation": {"every_generations": 2, "games": 60},
        "budget": {"wall_clock": f"{max(1, round(minutes * 60))}s"},
    }


def demo(
    port: Annotated[int | None, typer.Option(help="Port of the API and the page (default 8800).")] = None,
    home: HomeOption = None,
    leave: Annotated[bool, typer.Option("--exit", help="Return when done; stop what was started.")] = False,
    minutes: Annotated[float, typer.Option(min=0.1, help="How long the league trains.")] = 3.0,
) -> None:
    """Start the stack if it is not running, train a small league and show its champion. Ctrl-C ends it."""
    settings = load_settings(port=port, home=home)
    where = Home(settings.home)
    ours = not where.is_supervised()
    state = up_detached(settings)
    try:
        _show_parts(asyncio.run(_check(settings)))
        out.print(f"The page: [bold]{state.page}[/]", highlight=False)
        print_sign_in_link(state, where)  # to look at the league while it learns
        api = own_api(where)
        with Client(api) as client:
            champion = _run_league(client, api, minutes)
        if champion is not None and not (leave and ours):  # the page would be gone
            out.print(f"Play against it in the browser: [bold]{state.page}/play/{champion}[/]", highlight=False)
        out.print(next_steps(), highlight=False)
        if not leave:
            print_sign_in_link(state, where)
            out.print("Press Ctrl-C to end the demo.")
            _wait_for_interrupt()
    finally:
        if ours:
            with errors.status("Stopping …"):
                remote.stop(where)


def own_api(home: Home) -> ApiAddress:
    """The demo's own stack with its own token, also where LANISTA_TOKEN is that of another installation."""
    return find_api(home=home.root, token=home.own_token().text)


def next_steps() -> str:
    """The three commands to go on with a game of one's own."""
    found = shutil.which("lanista")
    command = "lanista" if found is not None else escape(os.path.relpath(Path(sys.executable).with_name("lanista")))
    return (
        "\nYour own game, in three commands:\n"
        f"  [bold]{command} new my-game[/]                      a project that works: game, model, trial file, tests\n"
        f"  [bold]{command} try my-game/trial.yaml[/]           a learning curve within seconds, in one process\n"
        f"  [bold]{command} trial start my-game/trial.yaml[/]   the same file as a league, while the stack is up"
    )


def _run_league(client: Client, api: ApiAddress, minutes: float) -> str | None:
    """Train and show the league; returns the version that is champion."""
    name = f"league-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    trial = client.create_trial(project=PROJECT, name=name, spec=demo_spec(minutes))
    out.print(f"Training the league [bold]{PROJECT}/{name}[/] for {minutes:g} minutes.", highlight=False)
    out.print(WHAT_TO_SEE + "\n", highlight=False)
    watch_trial(trial.id, out, where=api)
    league = client.league(trial.id)
    out.print(players_table(league, players_to_show(league, MOST_SHOWN)))
    champion = next((alias for alias in client.aliases(PROJECT) if alias.name == ALIAS), None)
    if champion is None:
        out.print("No champion yet: the league did not reach its first snapshot.")
        return None
    version = client.version(champion.version_id)
    player = client.player(version.player_id)
    out.print(
        f"Champion: [bold]{player.name}[/] (version {version.number}), after {version.steps:,} steps; "
        f"promoted {'once' if champion.revision == 1 else f'{champion.revision} times'}.",
        highlight=False,
    )
    return champion.version_id


async def _check(settings: StackSettings) -> SystemReport:
    from lanista.checks.system_check import check_system
    from orchestrator.temporal import connect

    home = Home(settings.home)
    address = remote.reach(home)["LANISTA_TEMPORAL_ADDRESS"]
    return await check_system(await connect(TemporalKeys(settings, home).connection(address)))


def _show_parts(report: SystemReport) -> None:
    table = Table("queue", "answer", "milliseconds", title="A check through every part")
    for part in report.parts:
        table.add_row(part.part, part.detail, f"{part.milliseconds:.1f}")
    out.print(table)


def _wait_for_interrupt() -> None:
    done = threading.Event()
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda *_: done.set())
    done.wait()
