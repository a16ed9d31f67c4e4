"""Opens the gRPC port of a gateway, or of a process without games."""

from __future__ import annotations

from workers.gateway.auth import Access
from workers.gateway.options import GatewayOptions
from workers.gateway.rpc.server import RpcOptions, RpcServer
from workers.gateway.rpc.services import ServiceContext, own_services, standard_services


async def listen_rpc(
    options: GatewayOptions, access: Access, context: ServiceContext, *, shared: bool = False
) -> RpcServer:
    """Serve all services that the context suffices for.

    `shared`: other processes listen on the same port. Replay is then not served: a buffer is in one process.
    """
    memory = 0 if shared else options.replay_bytes
    services = [
        *standard_services(context, replay_memory=memory, largest_message=options.message_bytes),
        *own_services(options.services, context),
    ]
    host = f"[{options.host}]" if ":" in options.host else options.host
    server = RpcServer(
        RpcOptions(
            address=f"{host}:{options.grpc_port or 0}",
            certificate=options.tls_cert,
            key=options.tls_key,
            largest_message=options.message_bytes,
            most_calls=options.limits.connections,
            reuse_port=shared,
        ),
        services,
        access,
    )
    await server.start()
    return server
