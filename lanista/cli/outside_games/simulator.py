"""`lanista simulator`: an environment as an outside process that calls a gateway."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

import typer
import yaml
from rich.live import Live
from rich.text import Text

from lanista.cli.options import JsonOption
from lanista.cli.outside_games.fake import TokenOption, fail, run_loop
from lanista.cli.stack_extra import require_stack
from lanista.cli.terminal import errors, out, print_json, print_line
from lanista.simulator.wire import Address, BadAddress


def simulator(
    env: Annotated[
        str, typer.Option("--env", help="CartPole-v1, classic/tictactoe_v3, a built-in game, or module:attr.")
    ],
    gateway: Annotated[str, typer.Option("--gateway", help="http://HOST:PORT or tcp://HOST:PORT.")] = "",
    game: Annotated[
        str | None, typer.Option("--game", help="gymnasium, pettingzoo_aec or pettingzoo_parallel; default: guessed.")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="The game's name in the trial file, where it has one.")] = "",
    options: Annotated[str, typer.Option("--options", help="Options of the environment, as JSON.")] = "{}",
    max_steps: Annotated[int | None, typer.Option("--max-steps", min=1, help="Step limit of a game.")] = None,
    teams: Annotated[str | None, typer.Option("--teams", help="The team of each seat, as JSON.")] = None,
    sessions: Annotated[int, typer.Option("--sessions", min=1, help="Games at the same time.")] = 1,
    games: Annotated[int, typer.Option("--games", min=0, help="Stop after this many games; 0: no limit.")] = 0,
    token: TokenOption = "",
    spec: Annotated[
        bool, typer.Option("--spec", help="Print the `game` section of a trial file for it, and end.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run a Gymnasium or PettingZoo environment as an outside process that calls a gateway."""
    require_stack()
    from lanista.simulator.environments import BadEnvironment, make_environment
    from workers.games.errors import BadGame

    def make() -> Any:
        seats = {} if teams is None else {"teams": _json("--teams", teams)}
        return make_environment(env, game, _json("--options", options), max_steps, seats)

    try:
        tables = [make() for _ in range(1 if spec else sessions)]
        if spec:
            _print_spec(tables[0])
            return
        address = Address.parse(gateway, token)
    except (BadEnvironment, BadGame, BadAddress) as error:
        raise fail(str(error)) from None
    _report(run_loop(_play(tables, address, games, name)), as_json)


def _json(option: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise fail(f"{option} is {text!r}, which is not JSON: {error}") from None


def _print_spec(table: Any) -> None:
    from lanista.simulator.declaring import declaration

    section = {"game": {"id": "remote", "agent": "lanista.agents:EnvironmentAgent", "spec": declaration(table.spec)}}
    out.print(yaml.safe_dump(section, sort_keys=False, default_flow_style=None, width=110), highlight=False, end="")


async def _play(tables: list[Any], address: Address, games: int, name: str) -> Any:
    from lanista.simulator.playing import PlayCounts, Quota, Table

    tally, quota = PlayCounts(), Quota(games)
    with Live(Text(""), console=errors, transient=True, refresh_per_second=4) as live:
        shown = asyncio.create_task(_show(tally, live))
        playing = [asyncio.create_task(Table(table, address, tally, name).play(quota)) for table in tables]
        try:
            await asyncio.gather(*playing)
        except asyncio.CancelledError:  # Ctrl-C
            for task in playing:
                task.cancel()
        finally:
            shown.cancel()
    return tally


async def _show(tally: Any, live: Live) -> None:
    before = 0
    while True:
        await asyncio.sleep(1.0)
        problem = f" · {tally.refused:,} refusals, the last: {tally.problem}" if tally.problem else ""
        live.update(Text(f"{tally.ticks - before:,} ticks/s · {tally.games:,} games{problem}"))
        before = tally.ticks


def _report(tally: Any, as_json: bool) -> None:
    means = [total / tally.games for total in tally.returns] if tally.games else []
    if as_json:
        print_json({"games": tally.games, "ticks": tally.ticks, "refused": tally.refused, "mean_returns": means})
        return
    shown = ", ".join(f"{mean:.4g}" for mean in means)
    print_line(f"{tally.games:,} games, {tally.ticks:,} ticks; mean return of each seat: {shown or 'none'}")
