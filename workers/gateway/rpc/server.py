"""A gRPC server of services: address, limits, TLS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import grpc

from workers.gateway.auth import Access
from workers.gateway.rpc.access import check_by, interceptors_for
from workers.gateway.rpc.binding import RpcService, handlers_of


@dataclass(frozen=True, kw_only=True)
class RpcOptions:
    """Where and within which limits to serve."""

    address: str = "127.0.0.1:0"
    certificate: Path | None = None
    """A file of PEM certificates, with `key`: TLS."""
    key: Path | None = None
    largest_message: int = 64 << 20
    """Bytes of a request."""
    most_calls: int = 12_000
    """Calls and streams under way at once."""
    reuse_port: bool = False
    """Several processes behind one port."""


class RpcServer:
    """Serves until it is stopped; must be made and used in one running event loop."""

    def __init__(self, options: RpcOptions, services: Sequence[RpcService], access: Access) -> None:
        self._server = grpc.aio.server(
            interceptors=interceptors_for(access),
            options=_channel_options(options, _largest_message(options, services)),
            maximum_concurrent_rpcs=options.most_calls,
        )
        self._services, check = services, check_by(access)
        for service in services:
            handlers = handlers_of(service, check)
            name = service.descriptor.full_name
            self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, handlers),))
            self._server.add_registered_method_handlers(name, handlers)
        try:
            self.port = self._listen(options)
        except RuntimeError as error:
            raise OSError(f"gRPC cannot listen at {options.address}: {error}") from None

    def _listen(self, options: RpcOptions) -> int:
        if options.certificate is None or options.key is None:
            return self._server.add_insecure_port(options.address)
        pair = (options.key.read_bytes(), options.certificate.read_bytes())
        return self._server.add_secure_port(options.address, grpc.ssl_server_credentials([pair]))

    async def start(self) -> None:
        await self._server.start()

    async def stop(self, grace: float | None = None) -> None:
        """End at once, or after so many seconds for the calls under way."""
        await self._server.stop(grace)
        for service in self._services:
            service.close()


def _largest_message(options: RpcOptions, services: Sequence[RpcService]) -> int:
    """What gRPC itself takes into memory: no more than some service here allows."""
    wanted = [service.largest_message or options.largest_message for service in services]
    return min(options.largest_message, max(wanted, default=options.largest_message))


def _channel_options(options: RpcOptions, largest_message: int) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", largest_message),
        ("grpc.max_send_message_length", -1),
        ("grpc.so_reuseport", int(options.reuse_port)),
        ("grpc.max_metadata_size", 16 << 10),
        # pings find peers that vanished; peers that ping often are not disconnected for it
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ]
