"""Settings of the train worker. A new field needs a row in docs/guides/settings.md."""

from __future__ import annotations

from pydantic import Field, FilePath, SecretStr, field_validator

from orchestrator.settings import (
    METRICS_ADDRESS,
    ArtifactCacheSettings,
    CodeSettings,
    ImportSettings,
    LogSettings,
    TemporalSettings,
    TraceSettings,
)
from workers.cluster.labels import LABELS
from workers.gateway.league.access import GatewayAccess, key_parts, parse_addresses
from workers.gateway.league.tls import trusting

ADDRESSES = r"^(\s*[^\s,/]+:\d{1,5}\s*(,|$))*$"
"""host:port, several separated by commas, or nothing."""


class WorkerSettings(TemporalSettings, ImportSettings, ArtifactCacheSettings, CodeSettings, LogSettings, TraceSettings):
    """Settings of the train worker, from the environment and `lanista.toml`."""

    ray_address: str = Field(
        default="auto",
        validation_alias="ray_address",
        pattern=r"^(auto|[^\s/]+:\d{1,5})$",
        description="host:port of a Ray cluster (RAY_ADDRESS, Ray's own variable); auto: one on this machine",
    )
    artifacts: str = Field(
        default=".lanista/artifacts",
        min_length=1,
        description="folder or fsspec URL (s3://bucket/path) that holds checkpoints",
    )
    tensorboard_dir: str = Field(
        default=".lanista/tensorboard", min_length=1, description="folder or URL that TensorBoard files are written to"
    )
    train_slots: int = Field(
        default=0, ge=0, le=1024, description="generations under way at once; 0 means as many as Ray has CPUs for"
    )
    ray_max_cpus: int = Field(
        default=0,
        ge=0,
        le=1 << 20,
        description="CPUs that Ray's autoscaler may grow the cluster to: crews beyond the nodes there are then wait "
        "for new ones, which the autoscaler starts for them; 0: the cluster does not grow by itself",
    )
    ray_labels: str = Field(
        default="",
        pattern=LABELS,
        description="labels (key=value, separated by commas) that a Ray node must have to run crews and matches, as "
        "given to `ray start --labels`; empty: every node with CPUs",
    )
    crew_idle_seconds: float = Field(
        default=30.0,
        ge=1,
        le=86_400,
        description="a crew that no generation needs keeps its Ray actors, and so their CPUs, this long",
    )
    buffer_memory_mb: int = Field(
        default=0,
        ge=0,
        le=1 << 30,
        description="MB of memory for the replay buffers of all crews; what exceeds it is spilled to files; "
        "0: a quarter of the machine's",
    )
    gateways: str = Field(
        default="",
        pattern=ADDRESSES,
        description="host:port of the control port of every gateway process, separated by commas, at which games call "
        "in; empty: none",
    )
    gateway_control_key: SecretStr | None = Field(
        default=None,
        description="secret that gateways and train workers share; needed wherever there are gateways. Several, "
        "separated by commas, while it is changed",
    )
    gateway_control_tls_ca: FilePath | None = Field(
        default=None,
        description="file (PEM) with the certificates by which gateways are trusted: their control ports then speak "
        "TLS",
    )
    play_slots: int = Field(default=1, ge=1, le=1024, description="match batches under way at once")
    train_metrics_address: str = Field(
        default="",
        pattern=METRICS_ADDRESS,
        description="ip:port where the train worker serves the Temporal SDK's metrics to Prometheus; empty: not served",
    )
    interactive_slots: int = Field(default=4, ge=1, le=1024, description="interactive answers under way at once")

    @field_validator("gateway_control_key")
    @classmethod
    def _no_key_is_empty(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            key_parts(value.get_secret_value())
        return value

    @field_validator("gateway_control_tls_ca")
    @classmethod
    def _certificates(cls, value: FilePath | None) -> FilePath | None:
        if value is not None:
            try:
                trusting(value.read_text())
            except (OSError, ValueError) as error:  # an SSLError is an OSError
                raise ValueError(f"no certificates (PEM) can be read there: {error}") from None
        return value

    @property
    def gateway_access(self) -> GatewayAccess:
        """Where games that call in are played."""
        key = "" if self.gateway_control_key is None else self.gateway_control_key.get_secret_value()
        authority = "" if self.gateway_control_tls_ca is None else self.gateway_control_tls_ca.read_text()
        return GatewayAccess(addresses=parse_addresses(self.gateways), key=key, authority=authority)
