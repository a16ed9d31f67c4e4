"""`lanista serve --alias champion`: a gateway that plays with what a league trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from lanista.cli.connection import address
from lanista.cli.installation.roles import api
from lanista.cli.installation.stack import load_settings
from lanista.cli.options import HomeOption
from lanista.cli.terminal import errors, print_line
from lanista.client import Client, Retries
from orchestrator.spec.reading.problems import InvalidTrial

if TYPE_CHECKING:
    from lanista.client.local import ApiAddress
    from lanista.serving.server import ServeOptions
    from workers.gateway.options import GatewayOptions
    from workers.gateway.process import Build
    from workers.serving.inference_service import ServiceOptions

OLD_MEANING = (
    "`lanista serve` without --alias starts the REST API, in this release only: use `lanista api`. "
    "`lanista serve --alias champion` serves a trained version."
)


class Swap(StrEnum):
    """Which sessions a new version plays."""

    NEW = "new"
    SESSIONS = "sessions"


class Backend(StrEnum):
    """What computes networks."""

    TORCH = "torch"
    ONNX = "onnx"


class Inference(StrEnum):
    """Where networks are computed."""

    LOCAL = "local"
    RAY = "ray"


def serve(
    alias: Annotated[
        str | None, typer.Option("--alias", help="Alias to follow: champion, or project@champion.", show_default=False)
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            "--weights", help="File of weights instead of an alias, as lanista try writes it.", show_default=False
        ),
    ] = None,
    trial: Annotated[
        Path | None,
        typer.Option("--trial", help="Trial file with `mode: serve`; its alias is followed.", show_default=False),
    ] = None,
    game: Annotated[str | None, typer.Option("--game", help="The game, if the project has several.")] = None,
    canary: Annotated[
        str | None, typer.Option("--canary", help="Version, or project@alias, that gets a share of sessions.")
    ] = None,
    share: Annotated[float, typer.Option("--share", min=0, max=1, help="The canary's share of sessions.")] = 0.1,
    agent: Annotated[str | None, typer.Option("--agent", help="module:Class; default: the game's agent.")] = None,
    seats: Annotated[
        str | None, typer.Option("--seats", help="Seats that the version plays, such as 0,2; default: all.")
    ] = None,
    sampled: Annotated[bool, typer.Option("--sampled", help="Sample actions; default: the best one.")] = False,
    search: Annotated[
        int | None,
        typer.Option("--search", min=1, max=10_000, help="Search with this many simulations a decision."),
    ] = None,
    swap: Annotated[Swap, typer.Option("--swap", help="Which sessions a new version plays.")] = Swap.NEW,
    backend: Annotated[Backend, typer.Option("--backend", help="What computes the networks.")] = Backend.TORCH,
    quantise: Annotated[bool, typer.Option("--quantise", help="With onnx: 8-bit weights.")] = False,
    inference: Annotated[Inference, typer.Option("--inference", help="Where the networks run.")] = Inference.LOCAL,
    replicas: Annotated[int, typer.Option("--replicas", min=1, help="With ray: processes of the service.")] = 1,
    gpus: Annotated[float, typer.Option("--gpus", min=0, help="With ray: GPUs of each replica.")] = 0.0,
    dump_every: Annotated[
        int | None, typer.Option("--dump-every", min=1, help="Record every n-th session, tick by tick.")
    ] = None,
    dump_keep: Annotated[
        int, typer.Option("--dump-keep", min=1, help="Recorded sessions to keep; older ones are deleted.")
    ] = 100,
    dump_to: Annotated[
        str | None, typer.Option("--dump-to", help="Folder or URL of recorded sessions; default: in the cache.")
    ] = None,
    host: Annotated[str | None, typer.Option("--host", help="Address (LANISTA_GATEWAY_HOST).")] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="HTTP port; 0: any free.")] = 8830,
    tcp_port: Annotated[int | None, typer.Option("--tcp-port", min=0, max=65535, help="TCP port; 0: any free.")] = None,
    grpc_port: Annotated[
        int | None, typer.Option("--grpc-port", min=0, max=65535, help="gRPC port; 0: any free.")
    ] = None,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, max=64, help="Processes (LANISTA_GATEWAY_PROCESSES).")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option("--cache", help="Folder that keeps the last versions for restarts.")
    ] = None,
    interval: Annotated[float, typer.Option("--interval", min=0.1, help="Seconds between polls of the alias.")] = 2.0,
    home: HomeOption = None,
) -> None:
    """Serve the version that an alias names, or a file of weights, to games that call in."""
    alias = _alias_of(trial, alias) if trial is not None else alias
    if weights is not None:
        _check_file(weights, {"--alias or --trial": alias, "--game": game, "--canary": canary})
    elif alias is None:
        errors.print(f"[yellow]{escape(OLD_MEANING)}[/]", highlight=False, soft_wrap=True)
        api()
        return
    if search is not None and (inference is Inference.RAY or backend is Backend.ONNX):
        raise typer.BadParameter(
            "a search runs in the gateway, on torch; leave out ray and onnx", param_hint="--search"
        )
    from lanista.serving.followed import Followed, find_followed
    from lanista.serving.server import ServeOptions

    root = cache or load_settings(home=home).home / "serving"
    connect = partial(_connect, home)
    if weights is not None:
        followed = Followed(project="", alias=weights.name)
    else:
        assert alias is not None
        followed = find_followed(connect, alias, game, canary, root)
    options = ServeOptions(
        followed=followed,
        cache=root / followed.folder,
        share=share,
        agent=agent,
        seats=None if seats is None else _seat_numbers(seats),
        sampled=sampled,
        search=search,
        swap_sessions=swap is Swap.SESSIONS,
        backend=backend.value,
        quantise=quantise,
        interval=interval,
        service=_service(replicas, gpus) if inference is Inference.RAY else None,
        dump_every=dump_every,
        dump_keep=dump_keep,
        artifacts=dump_to or str(root / followed.folder),
    )
    listening = _listening(host, (port, tcp_port, grpc_port), processes)
    _run(partial(_build, connect, partial(address, home), weights), options, listening)


def _build(
    connect: Callable[[], Client], where: Callable[[], ApiAddress], weights: Path | None, options: ServeOptions
) -> Build:
    """What plays in the gateway: a file's version, or the one that the alias names."""
    from lanista.rpc.records import WithRecords
    from lanista.serving.file import ServeFile
    from lanista.serving.server import ServeBuild

    if weights is not None:
        return ServeFile(weights, options)
    return WithRecords(ServeBuild(connect, options), where, options.followed)


def _alias_of(trial: Path, alias: str | None) -> str:
    """The alias of a trial file that is there to be served."""
    from orchestrator.spec.reading.loading import load_trial_file

    if alias is not None:
        raise typer.BadParameter("the file names the alias; leave out --alias", param_hint="--trial")
    try:
        file = load_trial_file(trial)
    except InvalidTrial as error:
        raise typer.BadParameter("; ".join(map(str, error.problems)), param_hint="--trial") from None
    if file.mode != "serve":
        raise typer.BadParameter(f"{trial} says mode: {file.mode}; write mode: serve, or --alias", param_hint="--trial")
    gate = file.league.champion_gate
    return f"{file.project}@{'champion' if gate is None else gate.alias}"


def _check_file(weights: Path, others: Mapping[str, str | None]) -> None:
    named = [option for option, value in others.items() if value is not None]
    if named:
        raise typer.BadParameter(f"a file is served alone; leave out {' and '.join(named)}", param_hint="--weights")
    if not weights.is_file():
        raise typer.BadParameter(
            f"{weights} does not exist; lanista try writes one for each player", param_hint="--weights"
        )


def _run(build: Callable[[ServeOptions], Build], options: ServeOptions, listening: GatewayOptions) -> None:
    from lanista.serving.inference import shared_service
    from orchestrator.logs import configure_logs
    from workers.gateway.process import run_gateway
    from workers.gateway.settings import GatewaySettings

    configure_logs(GatewaySettings.load(), role="serve")
    if options.backend == "onnx":
        from workers.serving.export.errors import require_onnx

        require_onnx()

    def ready(ports: dict[str, int]) -> None:
        where = ", ".join(f"{name} {listening.host}:{port}" for name, port in ports.items())
        print_line(f"Serving {escape(options.followed.label)} at {escape(where)}. Ctrl-C ends it.")

    with shared_service(options, listening.processes) as prepared:
        run_gateway(listening, build(prepared), on_ready=ready)


def _listening(host: str | None, ports: tuple[int, int | None, int | None], processes: int | None) -> GatewayOptions:
    from workers.gateway.settings import GatewaySettings

    given = GatewaySettings.load().gateway_options
    return replace(
        given,
        host=host or given.host,
        http_port=ports[0],
        tcp_port=ports[1],
        grpc_port=ports[2],
        processes=processes or given.processes,
    )


def _service(replicas: int, gpus: float) -> ServiceOptions:
    from workers.serving.inference_service import ServiceOptions
    from workers.settings import WorkerSettings

    return ServiceOptions(replicas=replicas, gpus=gpus, artifacts=WorkerSettings.load().artifacts)


def _connect(home: Path | None) -> Client:
    return Client(address(home), retries=Retries(attempts=2, longest_wait=1.0))


def _seat_numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r}: write numbers from 0, such as 0 or 0,2", param_hint="--seats") from None
