"""Settings of a gateway in the league. A new field needs a row in docs/guides/settings.md."""

from __future__ import annotations

from typing import Self

from pydantic import Field, FilePath, SecretStr, field_validator, model_validator

from orchestrator.settings import ArtifactCacheSettings, CodeSettings
from workers.gateway.league.access import key_parts
from workers.gateway.settings import GatewaySettings


class LeagueGatewaySettings(GatewaySettings, ArtifactCacheSettings, CodeSettings):
    """Settings of `lanista gateway`."""

    artifacts: str = Field(
        default=".lanista/artifacts",
        min_length=1,
        description="folder or fsspec URL (s3://bucket/path) that holds checkpoints",
    )
    gateway_control_host: str = Field(
        default="127.0.0.1", min_length=1, description="address at which crews and matches ask for games"
    )
    gateway_control_port: int = Field(
        default=8820,
        ge=1,
        le=65_000,
        description="port at which crews and matches ask for games; each further process of the gateway takes the next",
    )
    gateway_control_key: SecretStr | None = Field(
        default=None,
        description="secret that gateways and train workers share; needed wherever there are gateways. Several, "
        "separated by commas, while it is changed",
    )
    gateway_control_tls_cert: FilePath | None = Field(
        default=None, description="certificate file (PEM) of the control port: crews and matches then speak TLS with it"
    )
    gateway_control_tls_key: FilePath | None = Field(
        default=None, description="private key file (PEM) that belongs to the control port's certificate"
    )

    @field_validator("gateway_control_key")
    @classmethod
    def _no_key_is_empty(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            key_parts(value.get_secret_value())
        return value

    @model_validator(mode="after")
    def _control_certificate_has_its_key(self) -> Self:
        if bool(self.gateway_control_tls_cert) != bool(self.gateway_control_tls_key):
            raise ValueError(
                "LANISTA_GATEWAY_CONTROL_TLS_CERT and LANISTA_GATEWAY_CONTROL_TLS_KEY: set both or neither."
            )
        return self
