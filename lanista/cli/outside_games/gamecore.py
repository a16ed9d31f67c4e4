"""`lanista gamecore`: recorded games of outside processes."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from lanista.cli.connection import ExitCode, TrialArgument, connected
from lanista.cli.leagues.model import write_whole
from lanista.cli.options import HomeOption, JsonOption, LimitOption
from lanista.cli.stack_extra import require_stack
from lanista.cli.terminal import errors, out, print_json, print_line, uncut_table

if TYPE_CHECKING:
    from workers.gateway.recording.replaying import ReplayReport

gamecore = typer.Typer(help="Recorded games of outside processes: list, download, replay.", no_args_is_help=True)

SHOWN = 20
"""Differences of a replay that are printed."""


@gamecore.command("list")
def list_all(
    trial: TrialArgument, limit: LimitOption = 30, home: HomeOption = None, as_json: JsonOption = False
) -> None:
    """List the recorded games of a trial, newest first."""
    with connected(home) as client:
        found = list(islice(client.recorded_games(client.find_trial(trial), page_size=min(limit, 500)), limit))
    if as_json:
        print_json([game.model_dump(mode="json") for game in found])
        return
    table = uncut_table("id", "session", "began", "ticks", "players", "result", "size")
    for game in found:
        result = ", ".join(f"{value:g}" for value in game.returns) or game.aborted
        began = game.started_at.astimezone().strftime("%m-%d %H:%M:%S")
        players = ", ".join(name or "outside" for name in game.players)
        row = [game.id, game.session, began, f"{game.ticks:,}", players, result, f"{game.size:,}"]
        table.add_row(*(escape(cell) for cell in row))
    out.print(table)


@gamecore.command()
def download(
    trial: TrialArgument,
    game: Annotated[str, typer.Argument(metavar="GAME", help="Its id, as `list` shows it.", show_default=False)],
    to: Annotated[Path | None, typer.Option("--to", help="File; default: GAME.game.")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Download a recorded game, to replay it."""
    with connected(home) as client:
        data = client.recorded_game(client.find_trial(trial), game)
    target = to or Path(f"{game}.game")
    write_whole(target, data)
    if as_json:
        print_json({"file": str(target), "bytes": len(data)})
    else:
        print_line(f"{escape(str(target))}: {len(data):,} bytes")


@gamecore.command()
def replay(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A recorded game.", exists=True, dir_okay=False, readable=True)
    ],
    agent: Annotated[
        str | None, typer.Option("--agent", help="module:Class of the agent that the game is replayed into.")
    ] = None,
    render: Annotated[
        str | None, typer.Option("--render", help="module:function that draws a tick; see the guide.")
    ] = None,
    to: Annotated[Path | None, typer.Option("--to", help="Picture: .png (numbered files), .gif or .mp4.")] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", help="Seconds that each frame is shown.", min=0.02, max=60)
    ] = 0.2,
    as_json: JsonOption = False,
) -> None:
    """Replay a recorded game into an agent, with the recorded decisions, and compare its replies; or draw it."""
    require_stack()
    if agent is None and render is None:
        raise typer.BadParameter("nothing to do: give --agent, --render, or both")
    if (render is None) != (to is None):
        raise typer.BadParameter("--render and --to go together")
    from lanista.recordings import RecordingError, draw, read_game, replay_into

    try:
        game = read_game(file)
        report = None if agent is None else asyncio.run(replay_into(game, agent))
        written = [] if render is None or to is None else draw(game, render, to, agent=agent, seconds=seconds)
    except RecordingError as error:
        errors.print(f"[red]{escape(str(error))}[/]", soft_wrap=True)
        raise typer.Exit(ExitCode.FAILED) from None
    if as_json:
        print_json({"report": None if report is None else asdict(report), "files": [str(path) for path in written]})
    else:
        _print(report, written)
    if report is not None and report.differences:
        raise typer.Exit(ExitCode.FAILED)


def _print(report: ReplayReport | None, written: list[Path]) -> None:
    if report is not None:
        for each in report.differences[:SHOWN]:
            whose = f", agent {each.agent}" if each.agent else ""
            print_line(f"[red]tick {each.tick}{escape(whose)}: another {each.what}[/]")
            print_line(f"  recorded: {escape(each.recorded)}\n  now:      {escape(each.found)}")
        many: Any = len(report.differences) or "no"
        print_line(
            f"{escape(report.session)}: {report.ticks:,} ticks, {report.replies:,} replies and {report.decisions:,} "
            f"decisions compared, {many} differences"
        )
    if written:
        print_line(f"{len(written)} file{'s' if len(written) > 1 else ''}: {escape(str(written[0]))}")
