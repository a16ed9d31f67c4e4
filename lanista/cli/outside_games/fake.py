"""`lanista fake`: stand-ins for the parts of a game that calls in, so that each can be developed alone."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.live import Live
from rich.markup import escape
from rich.text import Text

from lanista.cli.connection import ExitCode
from lanista.cli.options import JsonOption
from lanista.cli.stack_extra import require_stack
from lanista.cli.terminal import errors, out, print_json, print_line
from lanista.fakes.gamecore import FUNCTIONS as GAME_FUNCTIONS
from lanista.fakes.gamecore import GameLoad, Load, Outcome
from lanista.fakes.scripts import BadScript, load
from lanista.simulator.wire import Address, BadAddress

fake = typer.Typer(help="Stand-ins for the parts of a game that calls in.", no_args_is_help=True)

ScriptOption = Annotated[
    Path | None, typer.Option("--script", help="Python file whose functions say what the fake does.")
]
TokenOption = Annotated[str, typer.Option("--token", envvar="LANISTA_GATEWAY_TOKEN", help="The gateway's token.")]
HostOption = Annotated[str, typer.Option("--host", help="Address to listen on.")]
PortOption = Annotated[int, typer.Option("--port", min=0, help="Port of HTTP; 0: any that is free.")]
TcpPortOption = Annotated[int | None, typer.Option("--tcp-port", min=0, help="Port of TCP; without it, none.")]


def load_script(path: Path | None, known: Iterable[str]) -> dict[str, Callable[..., Any]]:
    """The script's functions; none without a script."""
    try:
        return {} if path is None else load(path, tuple(known))
    except BadScript as error:
        raise fail(str(error)) from None


def fail(text: str) -> typer.Exit:
    """Print what is wrong with the command's arguments; to be raised."""
    errors.print(f"[red]{escape(text)}[/]", soft_wrap=True)
    return typer.Exit(ExitCode.FAILED)


@fake.command("gamecore")
def gamecore(
    url: Annotated[str, typer.Argument(metavar="URL", help="The gateway: http://HOST:PORT or tcp://HOST:PORT.")],
    sessions: Annotated[int, typer.Option("--sessions", min=1, help="Games open at the same time.")] = 1,
    rate: Annotated[float, typer.Option("--rate", min=0, help="Requests a second of all games; 0: no pause.")] = 0.0,
    connections: Annotated[int, typer.Option("--connections", min=1, help="Largest number of connections.")] = 64,
    ticks: Annotated[int, typer.Option("--ticks", min=0, help="Ticks of a game.")] = 100,
    games: Annotated[int, typer.Option("--games", min=0, help="Stop after this many games; 0: no limit.")] = 0,
    seconds: Annotated[float, typer.Option("--seconds", min=0, help="Stop after this time; 0: no limit.")] = 0.0,
    body: Annotated[str, typer.Option("--body", help="What each tick sends.")] = "{}",
    token: TokenOption = "",
    script: ScriptOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play fake games against a gateway; shows throughput and the percentiles of the time to an answer."""
    try:
        address = Address.parse(url, token)
    except BadAddress as error:
        raise fail(str(error)) from None
    wanted = Load(
        address=address,
        sessions=sessions,
        connections=connections,
        rate=rate,
        ticks=ticks,
        games=games,
        body=body.encode(),
        script=load_script(script, GAME_FUNCTIONS),
    )
    try:
        outcome: Outcome = run_loop(_play(wanted, seconds))
    except OSError as error:
        raise fail(f"{url}: no gateway can be reached there: {error}") from None
    except BadScript as error:
        raise fail(str(error)) from None
    _report(outcome, as_json)


def run_loop(coroutine: Any) -> Any:
    """Run on uvloop where it is installed: a fake must not be the slowest part."""
    factory = importlib.import_module("uvloop" if find_spec("uvloop") else "asyncio").new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(coroutine)


async def _play(wanted: Load, seconds: float) -> Outcome:
    run = GameLoad(wanted)
    with Live(Text(""), console=errors, transient=True, refresh_per_second=4) as live:
        shown = asyncio.create_task(_show(run, live))
        try:
            return await run.run(seconds)
        except asyncio.CancelledError:  # Ctrl-C: what was measured so far is the result
            return run.outcome
        finally:
            shown.cancel()


async def _show(run: GameLoad, live: Live) -> None:
    """The live line: what the last second was like."""
    before = run.outcome.ticks.copy()
    while True:
        await asyncio.sleep(1.0)
        now = run.outcome.ticks.copy()
        last = now.since(before)
        before = now
        live.update(
            Text(
                f"{last.total:,} ticks/s · p50 {last.percentile(0.5) * 1e3:.2f} ms · p99 "
                f"{last.percentile(0.99) * 1e3:.2f} ms · {run.outcome.open:,} games open · "
                f"{run.outcome.finished:,} finished · {run.outcome.refused.total():,} refused"
            )
        )


def _report(outcome: Outcome, as_json: bool) -> None:
    record = outcome.record()
    if as_json:
        print_json(record)
        return
    print_line(
        f"{record['ticks']:,} ticks in {record['seconds']:g} s: [bold]{record['ticks_per_s']:,.0f} ticks/s[/]; "
        f"{record['finished']:,} games finished, {record['open_sessions']:,} open"
    )
    percentiles = ", ".join(f"{name.removesuffix('_ms')} {record[name]:g}" for name in record if name.endswith("_ms"))
    print_line(f"time to an answer in ms: {percentiles}")
    if record["lost_connections"]:
        print_line(f"[red]{record['lost_connections']:,} connections were lost[/]")
    for text, count in record["refused"].items():
        print_line(f"[red]{count:,} refused:[/] {escape(text)}")


@fake.command("buffer")
def buffer(
    trial: Annotated[Path, typer.Argument(metavar="TRIAL.yaml", help="The trial file.", show_default=False)],
    updates: Annotated[int, typer.Option("--updates", min=1, help="Number of updates.")] = 10,
    tables: Annotated[int, typer.Option("--tables", min=1, help="Made-up games at the same time.")] = 64,
    length: Annotated[int, typer.Option("--length", min=1, help="Mean length of a made-up game.")] = 20,
    script: ScriptOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a trial's model and algorithm on made-up experience of its spaces: no game, no league."""
    require_stack()
    from lanista.fakes.buffer import updates as train
    from lanista.fakes.made_up_game import FUNCTIONS
    from orchestrator.spec import InvalidTrial
    from orchestrator.spec.reading.loading import load_trial_file
    from workers.algorithms.errors import BadAlgorithm
    from workers.games.errors import BadGame

    functions = load_script(script, FUNCTIONS)
    records = []
    try:
        spec = load_trial_file(trial)
        for update in train(spec, count=updates, tables=tables, mean_length=length, script=functions):
            metrics = ", ".join(f"{name} {value:.4g}" for name, value in update.metrics.items() if name != "rows")
            records.append({"update": update.number, "rows": update.rows, "metrics": dict(update.metrics)})
            if not as_json:
                rate = update.rows / update.seconds if update.seconds else 0.0
                out.print(
                    f"update {update.number}: {update.rows:,} rows, {rate:,.0f} rows/s, {metrics}", highlight=False
                )
    except (InvalidTrial, BadAlgorithm, BadGame) as error:
        raise fail(str(error)) from None
    if as_json:
        print_json(records)


@fake.command("agent")
def agent(
    port: PortOption = 8810,
    tcp_port: TcpPortOption = None,
    host: HostOption = "127.0.0.1",
    token: TokenOption = "",
    start: Annotated[str, typer.Option("--start", help="Answer to every start.")] = "",
    tick: Annotated[str, typer.Option("--tick", help="Answer to every tick.")] = "",
    end: Annotated[str, typer.Option("--end", help="Answer to every end.")] = "",
    delay: Annotated[float, typer.Option("--delay", min=0, help="Milliseconds until each answer.")] = 0.0,
    fail_every: Annotated[int, typer.Option("--fail-every", min=0, help="Every n-th tick fails; 0: none.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not print each request.")] = False,
    script: ScriptOption = None,
) -> None:
    """Answer every request of a game with fixed bytes, to develop the game: no model, no league."""
    require_stack()
    from lanista.fakes.agent import serve
    from lanista.fakes.answers import FUNCTIONS, Answers

    answers = Answers(
        start=start.encode(),
        tick=tick.encode(),
        end=end.encode(),
        script=load_script(script, FUNCTIONS),
        delay=delay / 1000,
        fail_every=fail_every,
        on_step=None if quiet else _print_step,
    )
    run_loop(serve(answers, _gateway_options(host, port, tcp_port, token), _say_where))
    print_line(f"{answers.ended:,} games ended, {answers.aborts:,} aborted, {answers.ticks:,} ticks")


@fake.command("model")
def model(
    trial: Annotated[Path, typer.Argument(metavar="TRIAL.yaml", help="The trial file.", show_default=False)],
    port: PortOption = 8810,
    tcp_port: TcpPortOption = None,
    host: HostOption = "127.0.0.1",
    token: TokenOption = "",
    outside: Annotated[
        list[int] | None, typer.Option("--outside", min=0, help="A seat that the game plays by itself.")
    ] = None,
    script: ScriptOption = None,
) -> None:
    """Play with the trial's agent and a model that draws random actions, to develop the agent: no trainer."""
    require_stack()
    from lanista.fakes.model import FUNCTIONS, FakeCasting, remote_game, serve
    from orchestrator.catalog import CatalogError
    from orchestrator.spec import InvalidTrial
    from orchestrator.spec.reading.loading import load_trial_file
    from workers.agents.errors import AgentError
    from workers.games.errors import BadGame

    functions = load_script(script, FUNCTIONS)
    try:
        spec, agents = remote_game(load_trial_file(trial))
    except (InvalidTrial, BadGame, BadScript, AgentError, CatalogError) as error:
        raise fail(str(error)) from None
    made: list[FakeCasting] = []

    def ready(gateway: Any, casting: FakeCasting) -> None:
        made.append(casting)
        _say_where(gateway)

    options = _gateway_options(host, port, tcp_port, token)
    run_loop(serve(spec, agents, options, ready, script=functions, outside=frozenset(outside or ())))
    _say_played(made[0])


def _say_played(casting: Any) -> None:
    """What came out of the agent, so that its author sees what a learner would get."""
    print_line(f"{casting.finished_sessions:,} games finished, {casting.ticks:,} ticks, {casting.rows:,} decisions")
    if casting.finished_sessions:
        means = ", ".join(f"{total / casting.finished_sessions:.3g}" for total in casting.returns)
        print_line(f"mean return of each seat: {means}")
    for title, values in (("decisions have", casting.columns), ("metrics", casting.metrics)):
        if values:
            print_line(f"{title}: {escape(', '.join(f'{name} {value}' for name, value in values.items()))}")
    for reason, count in casting.aborts.items():
        print_line(f"[red]{count:,} aborted:[/] {escape(reason)}")


def _gateway_options(host: str, port: int, tcp_port: int | None, token: str) -> Any:
    from workers.gateway.options import GatewayOptions

    return GatewayOptions(host=host, http_port=port, tcp_port=tcp_port, tokens=(token,) if token else ())


def _say_where(gateway: Any) -> None:
    host = gateway.options.host
    where = ", ".join(f"{name}://{host}:{port}" for name, port in gateway.ports.items())
    print_line(f"listening on {where}; Ctrl-C ends it")


def _print_step(step: Any, answer: Any) -> None:
    said = f"{answer.status} {answer.text}" if hasattr(answer, "status") else _short(answer)
    name = f"{step.session}-agent-{step.agent}" if step.agent else step.session
    out.print(f"{name} {step.kind.value} {_short(step.body)} -> {said}", markup=False, highlight=False, soft_wrap=True)


def _short(body: bytes) -> str:
    return repr(body) if len(body) <= 100 else f"{body[:100]!r}… ({len(body):,} bytes)"
