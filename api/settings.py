"""Settings of the API and of the store worker, the two that speak to Postgres."""

from __future__ import annotations

from pydantic import Field, SecretStr

from orchestrator.settings import LogSettings, TemporalSettings


class StoreSettings(TemporalSettings, LogSettings):
    """What the store worker needs to know."""

    database_url: SecretStr = Field(
        default=SecretStr("postgresql+psycopg://lanista@127.0.0.1:5432/lanista"),
        description="Postgres, as postgresql+psycopg://user:password@host:port/database",
    )
    artifacts: str = Field(
        default=".lanista/artifacts",
        min_length=1,
        description="folder or fsspec URL (s3://bucket/path) that holds checkpoints",
    )
    store_slots: int = Field(default=16, ge=1, le=512, description="store transactions under way at once")


class ApiSettings(StoreSettings):
    """What the API needs to know."""

    host: str = Field(default="127.0.0.1", min_length=1, description="address the API binds; loopback by default")
    port: int = Field(default=8800, ge=1, le=65535, description="port of the API and the page")
    ray_address: str = Field(
        default="",
        validation_alias="ray_address",
        description="host:port of the Ray head (RAY_ADDRESS), which /readyz looks for; empty leaves Ray out of it",
    )
    tensorboard_url: str = Field(
        default="", pattern="^(https?://.+)?$", description="where TensorBoard runs; the page links to it"
    )
    temporal_ui_url: str = Field(
        default="", pattern="^(https?://.+)?$", description="where the Temporal page runs; the page links to it"
    )
