"""Settings of the API and of the store worker: the two processes that connect to Postgres."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

from api.addresses import read_networks
from orchestrator.settings import (
    METRICS_ADDRESS,
    ArtifactCacheSettings,
    ImportSettings,
    LanistaSettings,
    LogSettings,
    TemporalSettings,
    TraceSettings,
)

if TYPE_CHECKING:
    from api.store.checkpoints.pruning import Retention


def _require_postgres(value: SecretStr) -> SecretStr:
    try:
        # imported late: the command line reads settings too, also where the stack is not installed
        from api.store.core.engine import database_url
        from api.store.core.errors import InvalidDatabaseUrl
    except ModuleNotFoundError:
        return value  # only the stack uses it
    try:
        database_url(value.get_secret_value())
    except InvalidDatabaseUrl as error:
        raise ValueError(str(error)) from None
    return value


def _require_networks(value: str) -> str:
    read_networks(value)
    return value


DatabaseUrl = Annotated[SecretStr, AfterValidator(_require_postgres)]


class AlertSettings(LanistaSettings):
    """Settings of alerts: what they may call, how long they are tried, and the mail server."""

    alert_networks: Annotated[str, AfterValidator(_require_networks)] = Field(
        default="",
        description="addresses or networks (CIDR), separated by commas, that alerts may call although they are not "
        "public, and by http://; empty: public addresses only, by https://",
    )
    alert_stall_minutes: float = Field(
        default=30.0, ge=1, le=10_080, description="minutes without an event after which a running trial is stalled"
    )
    alert_retry_hours: float = Field(
        default=72.0, ge=0.01, le=8760, description="hours for which an alert is tried again before it is given up"
    )
    alert_keep_days: float = Field(
        default=30.0, ge=0.01, le=3650, description="days for which delivered and given-up alerts are kept"
    )
    public_url: str = Field(
        default="",
        pattern="^(https?://[!-~]+)?$",
        description="address under which people reach the page, for links in alerts; empty: no links",
    )
    smtp_host: str = Field(
        default="", pattern=r"^\S*$", description="mail server of e-mail alerts; empty: none are sent"
    )
    smtp_port: int = Field(default=587, ge=1, le=65535, description="port of the mail server")
    smtp_tls: str = Field(
        default="starttls",
        pattern="^(starttls|tls|none)$",
        description="starttls (usual on port 587), tls (port 465) or none",
    )
    smtp_user: str = Field(default="", description="user at the mail server; empty: no sign-in")
    smtp_password: SecretStr | None = Field(default=None, description="password at the mail server")
    smtp_from: str = Field(
        default="lanista@localhost", pattern=r"^[!-~]+@[!-~]+$", description="sender of e-mail alerts"
    )

    @model_validator(mode="after")
    def _password_is_encrypted(self) -> Self:
        if self.smtp_password is not None and self.smtp_tls == "none":
            raise ValueError("LANISTA_SMTP_PASSWORD needs LANISTA_SMTP_TLS=starttls or tls: it is not sent in clear.")
        return self


class StoreSettings(TemporalSettings, ArtifactCacheSettings, LogSettings, TraceSettings, AlertSettings):
    """Settings of the store worker."""

    database_url: DatabaseUrl = Field(
        default=SecretStr("postgresql+psycopg://lanista@127.0.0.1:5432/lanista"),
        description="Postgres, as postgresql+psycopg://user:password@host:port/database",
    )
    database_app_role: str = Field(
        default="",
        pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,62}$|^$",
        description="role of the API and the store worker in Postgres, to which `lanista migrate`, run as the owner, "
        "grants reading and writing rows and nothing else; empty: they connect as the owner",
    )
    artifacts: str = Field(
        default=".lanista/artifacts",
        min_length=1,
        description="folder or fsspec URL (s3://bucket/path) that holds checkpoints",
    )
    own_matchmakers: bool = Field(
        default=True,
        description="false to refuse new trials whose matchmaker is an import path: it runs in the store worker, which "
        "has the database. `lanista up` sets it with LANISTA_WORKER_USER",
    )
    stall_seconds: float = Field(
        default=120.0, ge=5, le=86_400, description="an attempt without progress for this long is retried"
    )
    store_slots: int = Field(default=16, ge=1, le=512, description="store activities that run at once")
    retain_newest: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="checkpoints of each learning player that are kept, the newest, at least 2; older ones that "
        "nothing needs are pruned when a trial ends; 0: all are kept",
    )
    retain_every: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="with LANISTA_RETAIN_NEWEST also each version is kept whose number this divides; "
        "0: no further ones",
    )
    retain_matches_days: int = Field(
        default=0,
        ge=0,
        le=36_500,
        description="days for which matches keep their moves; older ones that nothing needs are pruned when a trial "
        "ends, and their results stay; 0: for ever",
    )
    store_metrics_address: str = Field(
        default="",
        pattern=METRICS_ADDRESS,
        description="ip:port where the store worker serves the Temporal SDK's metrics to Prometheus; empty: not served",
    )

    @model_validator(mode="after")
    def _enough_is_kept(self) -> Self:
        if self.retain_newest == 1:
            raise ValueError("LANISTA_RETAIN_NEWEST: keep at least 2, or 0 to keep all.")
        return self

    @property
    def retention(self) -> Retention | None:
        """Which checkpoints are kept; None: all."""
        from api.store.checkpoints.pruning import Retention  # needs SQLAlchemy, which settings do not

        return Retention(newest=self.retain_newest, every=self.retain_every) if self.retain_newest else None

    @property
    def moves_age(self) -> timedelta | None:
        """The age at which matches lose their moves; None: never."""
        return timedelta(days=self.retain_matches_days) if self.retain_matches_days else None


class ApiSettings(StoreSettings, ImportSettings):
    """Settings of the API."""

    host: str = Field(default="127.0.0.1", min_length=1, description="address the API binds; loopback by default")
    port: int = Field(default=8800, ge=1, le=65535, description="port of the API and the page")
    ray_address: str = Field(
        default="",
        validation_alias="ray_address",
        pattern=r"^([^\s/]+:\d{1,5})?$",
        description="host:port of the Ray head (RAY_ADDRESS), which /readyz checks; empty: Ray is not checked",
    )
    tensorboard_url: str = Field(
        default="", pattern="^(https?://.+)?$", description="address of a TensorBoard elsewhere, for a link on the page"
    )
    tensorboard_upstream: str = Field(
        default="",
        pattern="^(https?://[^/]+/?|unix:/.+)?$",
        description="where TensorBoard listens, as http://host:port or unix:/path of a socket: the API serves it to "
        "signed-in users below /tensorboard/. Keep it closed to others: it has no sign-in of its own",
    )
    temporal_ui_url: str = Field(
        default="", pattern="^(https?://.+)?$", description="address of Temporal's Web UI, for a link on the page"
    )
    log_folder: str = Field(
        default="",
        description="folder with the log of each part as <part>.log, whose last lines an admin sees on the page; "
        "empty: none is shown",
    )
    allowed_hosts: str = Field(
        default="",
        description="host names the API answers to besides loopback and its own, separated by commas; * for any",
    )
    trusted_proxies: Annotated[str, AfterValidator(_require_networks)] = Field(
        default="",
        description="addresses or networks (CIDR) of reverse proxies, separated by commas: X-Forwarded-For and "
        "X-Forwarded-Proto count only in their requests",
    )
    max_connections: int = Field(
        default=1_000,
        ge=10,
        le=100_000,
        description="connections open at once; above it one that waits for its peer ends, else 503",
    )
    connections_per_address: int = Field(
        default=100,
        ge=1,
        le=100_000,
        description="connections open at once from one address (IPv6: one /64), except this machine and trusted "
        "proxies; above it one of them that waits for its peer ends, else 429",
    )
    streams_per_token: int = Field(
        default=250, ge=1, le=100_000, description="event streams open at once with one token; above it 429"
    )
    max_header_bytes: int = Field(
        default=32_768, ge=4096, le=1 << 20, description="largest request line with headers, bytes; above it 431"
    )
    header_seconds: float = Field(
        default=20.0, ge=0.5, le=3600, description="seconds within which a connection must send a request's headers"
    )
    transfer_seconds: float = Field(
        default=30.0,
        ge=0.5,
        le=3600,
        description="seconds after which a connection ends whose peer reads nothing of an answer, or sends less than "
        "500 bytes per second of a body",
    )
    keep_alive_seconds: int = Field(
        default=5, ge=1, le=3600, description="seconds that a connection stays open between two requests"
    )
    max_body_bytes: int = Field(default=1_048_576, ge=1024, le=1 << 30, description="largest body of a request, bytes")
    max_trial_bytes: int = Field(
        default=65_536,
        ge=1024,
        le=1_000_000,
        description="largest trial file, bytes; a request with one may have twice as many, since JSON escapes text",
    )
    max_upload_bytes: int = Field(default=1 << 30, ge=1024, le=1 << 40, description="largest weights file, bytes")
    uploads_at_once: int = Field(
        default=2, ge=1, le=1_000, description="weights files uploaded at once, each held in memory; above it 429"
    )
    min_free_bytes: int = Field(
        default=1 << 30,
        ge=0,
        le=1 << 50,
        description="free bytes that an upload must leave on the disk of a local artifact folder; else 507",
    )
    rate_limit: float = Field(default=500.0, ge=0, le=1e6, description="requests per second of one token; 0: unlimited")
    rate_burst: int = Field(default=1_000, ge=1, le=1_000_000, description="requests that one token may send at once")
    failed_sign_ins: float = Field(
        default=30.0, ge=0, le=1e6, description="failed sign-ins per minute from one address; 0: unlimited"
    )
    session_hours: float = Field(default=12.0, gt=0, le=8760, description="hours until a browser must sign in again")
    session_secret: SecretStr | None = Field(
        default=None,
        min_length=32,
        description="secret that signs browser sessions; the same for all API processes, not for workers. Several, "
        "separated by commas, while it is changed: the first one signs. Empty: "
        "`lanista up` stores a generated one, an API that runs alone generates one at each start",
    )
    reconcile_seconds: float = Field(
        default=10.0,
        gt=0,
        le=3600,
        description="seconds between two reconciliations with Temporal",
    )
    idempotency_hours: float = Field(
        default=168.0, ge=1, le=8760, description="hours for which an idempotency key and its response are stored"
    )
    database_connections: int = Field(
        default=20, ge=2, le=500, description="connections to Postgres that one API process may hold"
    )
