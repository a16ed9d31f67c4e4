"""How a gateway listens. Imports nothing heavy, because settings import it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from workers.gateway.auth import Network
from workers.gateway.limits import GatewayLimits


@dataclass(frozen=True, kw_only=True)
class GatewayOptions:
    """How a gateway listens. A port of None is not opened, one of 0 is any free port."""

    host: str = "127.0.0.1"
    http_port: int | None = 0
    tcp_port: int | None = None
    grpc_port: int | None = None
    processes: int = 1
    """Processes that share the ports."""
    tokens: tuple[str, ...] = ()
    trusted: tuple[Network, ...] = ()
    """Networks whose games need no token."""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    limits: GatewayLimits = field(default_factory=GatewayLimits)
    message_bytes: int = 64 << 20
    """Largest message over gRPC."""
    replay_bytes: int = 1 << 30
    """Memory for replay buffers; 0: the service Replay is not served."""
    services: tuple[str, ...] = ()
    """Further gRPC services, `module:Class`."""
