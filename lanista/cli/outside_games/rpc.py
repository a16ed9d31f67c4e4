"""`lanista rpc`: gRPC services without games."""

from __future__ import annotations

from typing import Annotated

import typer

from lanista.cli.options import HomeOption
from lanista.cli.terminal import print_line

ServiceOption = Annotated[
    list[str] | None, typer.Option("--service", help="module:Class of a service of your own; may be repeated.")
]
ProjectOption = Annotated[str, typer.Option("--project", help="The project of aliases that name none.")]


def rpc(
    host: Annotated[str | None, typer.Option("--host", help="Address; default: LANISTA_GATEWAY_HOST.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", help="Port; default: LANISTA_GATEWAY_GRPC_PORT.", min=0, max=65535)
    ] = None,
    project: ProjectOption = "default",
    service: ServiceOption = None,
    home: HomeOption = None,
) -> None:
    """Serve the gRPC services Policy, Parameters and Replay, and those of your own, in the foreground."""
    from dataclasses import replace

    import uvloop

    from lanista.rpc.standalone import serve
    from workers.gateway.settings import GatewaySettings

    options = GatewaySettings.load(**({} if host is None else {"gateway_host": host})).gateway_options
    if port is not None:
        options = replace(options, grpc_port=port)
    options = replace(options, services=tuple(service or ()))
    uvloop.run(serve(options, project, home, lambda found: print_line(f"gRPC listens at {options.host}:{found}.")))
