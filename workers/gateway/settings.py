"""Settings of a gateway. A new field needs a row in docs/guides/settings.md."""

from __future__ import annotations

from typing import Self

from pydantic import Field, FilePath, SecretStr, field_validator, model_validator

from orchestrator.settings import LogSettings
from workers.gateway.auth import parse_networks
from workers.gateway.limits import GatewayLimits
from workers.gateway.options import GatewayOptions

SHORTEST_TOKEN = 16


class GatewaySettings(LogSettings):
    """Settings of every process that games call, from the environment and `lanista.toml`."""

    gateway_host: str = Field(
        default="127.0.0.1", min_length=1, description="address at which games call in; loopback by default"
    )
    gateway_port: int = Field(default=8810, ge=0, le=65535, description="port for games over HTTP; 0: none")
    gateway_tcp_port: int = Field(default=8811, ge=0, le=65535, description="port for games over TCP; 0: none")
    gateway_grpc_port: int = Field(default=8812, ge=0, le=65535, description="port for gRPC; 0: none")
    gateway_processes: int = Field(
        default=1, ge=1, le=64, description="processes that share the ports; a session stays in the one it began in"
    )
    gateway_token: SecretStr | None = Field(
        default=None,
        description="tokens of at least 16 characters, separated by commas: games send one of them as a bearer token "
        "or as `token`; needed where other machines can reach the gateway",
    )
    gateway_trusted: str = Field(
        default="",
        description="addresses or networks (CIDR), separated by commas, whose games need no token",
    )
    gateway_tls_cert: FilePath | None = Field(
        default=None, description="certificate file (PEM) of the gateway: games then speak TLS"
    )
    gateway_tls_key: FilePath | None = Field(
        default=None, description="private key file (PEM) that belongs to the gateway's certificate"
    )
    gateway_max_sessions: int = Field(
        default=20_000, ge=1, le=1_000_000, description="game sessions open at once in one process; above it 503"
    )
    gateway_max_connections: int = Field(
        default=20_000, ge=1, le=1_000_000, description="connections open at once in one process; above it 503"
    )
    gateway_max_body_bytes: int = Field(
        default=1 << 20, ge=1024, le=1 << 30, description="largest body of a game's request; above it 413"
    )
    gateway_buffered_mb: int = Field(
        default=256,
        ge=1,
        le=1 << 20,
        description="MB of bodies above 16 KB that one process holds at once; above it 503",
    )
    gateway_session_seconds: float = Field(
        default=60.0, ge=1, le=86_400, description="a game session without a request for this long is aborted"
    )
    gateway_step_seconds: float = Field(
        default=60.0, ge=1, le=86_400, description="an agent that does not answer for this long is given up: 504"
    )
    gateway_request_seconds: float = Field(
        default=30.0, ge=1, le=3_600, description="seconds within which a game must send a request or read a reply"
    )
    gateway_idle_seconds: float = Field(
        default=600.0, ge=1, le=86_400, description="a game's connection without a request for this long is closed"
    )

    gateway_grpc_message_mb: int = Field(
        default=64, ge=1, le=2000, description="MB of the largest message over gRPC, such as published weights"
    )
    gateway_replay_mb: int = Field(
        default=1024,
        ge=0,
        le=1 << 20,
        description="MB of memory for all replay buffers of the gRPC service Replay; 0: it is not served",
    )
    gateway_services: str = Field(
        default="", description="gRPC services of your own, `module:Class`, separated by commas"
    )

    @field_validator("gateway_token")
    @classmethod
    def _long_enough(cls, value: SecretStr | None) -> SecretStr | None:
        if any(len(token) < SHORTEST_TOKEN for token in _parts(value)):
            raise ValueError(f"a token is shorter than {SHORTEST_TOKEN} characters")
        return value

    @field_validator("gateway_trusted")
    @classmethod
    def _networks(cls, value: str) -> str:
        parse_networks(value)
        return value

    @model_validator(mode="after")
    def _certificate_has_its_key(self) -> Self:
        if bool(self.gateway_tls_cert) != bool(self.gateway_tls_key):
            raise ValueError("LANISTA_GATEWAY_TLS_CERT and LANISTA_GATEWAY_TLS_KEY: set both or neither.")
        return self

    @property
    def gateway_options(self) -> GatewayOptions:
        """How the gateway listens."""
        return GatewayOptions(
            host=self.gateway_host,
            http_port=self.gateway_port or None,
            tcp_port=self.gateway_tcp_port or None,
            grpc_port=self.gateway_grpc_port or None,
            processes=self.gateway_processes,
            tokens=tuple(_parts(self.gateway_token)),
            trusted=parse_networks(self.gateway_trusted),
            tls_cert=self.gateway_tls_cert,
            tls_key=self.gateway_tls_key,
            limits=GatewayLimits(
                body_bytes=self.gateway_max_body_bytes,
                buffered_bytes=self.gateway_buffered_mb << 20,
                connections=self.gateway_max_connections,
                sessions=self.gateway_max_sessions,
                session_seconds=self.gateway_session_seconds,
                step_seconds=self.gateway_step_seconds,
                request_seconds=self.gateway_request_seconds,
                idle_seconds=self.gateway_idle_seconds,
            ),
            message_bytes=self.gateway_grpc_message_mb << 20,
            replay_bytes=self.gateway_replay_mb << 20,
            services=tuple(part.strip() for part in self.gateway_services.split(",") if part.strip()),
        )


def _parts(value: SecretStr | None) -> list[str]:
    return [] if value is None else [part.strip() for part in value.get_secret_value().split(",") if part.strip()]
