"""Settings of the local stack and of the command line, and the list of all settings."""

from __future__ import annotations

import difflib
import os
import tomllib
from pathlib import Path
from typing import Any, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from api.settings import ApiSettings, DatabaseUrl, StoreSettings
from lanista.given_settings import DEFAULT_HOME
from orchestrator.settings import (
    ENV_PREFIX,
    ArtifactCacheSettings,
    CodeSettings,
    LanistaSettings,
    LogSettings,
    SettingsError,
    TemporalSettings,
    TraceSettings,
    config_file,
    environment_name,
)
from orchestrator.tracing.setup import require_extra
from workers.gateway.league.settings import LeagueGatewaySettings
from workers.gateway.settings import GatewaySettings
from workers.settings import WorkerSettings


class StackSettings(TemporalSettings, LogSettings, TraceSettings):
    """Settings of `lanista up`. A part whose address is set is external: it is used and not started."""

    home: Path = Field(default=DEFAULT_HOME, description="data folder of the local stack")
    host: str = Field(default="127.0.0.1", min_length=1, description="address the API binds; loopback by default")
    port: int = Field(default=8800, ge=1, le=65535, description="port of the API and the page")
    database_url: DatabaseUrl | None = Field(
        default=None, description="Postgres, as postgresql+psycopg://user:password@host:port/database"
    )
    temporal_address: str = Field(
        default="",
        pattern=r"^([^\s:/]+:\d{1,5})?$",
        description="host:port of the Temporal frontend; set it to use a server of your own",
    )
    ray_address: str = Field(
        default="",
        validation_alias="ray_address",
        pattern=r"^([^\s/]+:\d{1,5})?$",
        description="host:port of a Ray cluster of your own",
    )
    artifacts: str = Field(
        default="", description="folder or fsspec URL (s3://bucket/path) that holds checkpoints; empty: in the home"
    )
    import_folders: str = Field(
        default="",
        description="folders, separated by commas, in which `initial_weights` may name a file; empty: imports in the "
        "home",
    )
    trace_folder: str = Field(
        default="", description="folder of the files with LANISTA_TRACING=file; empty: traces in the home"
    )
    postgres_port: int = Field(default=0, ge=0, le=65535, description="port of the embedded Postgres; 0: any free")
    temporal_port: int = Field(default=0, ge=0, le=65535, description="port of the embedded Temporal; 0: any free")
    ray_port: int = Field(default=0, ge=0, le=65535, description="port of the embedded Ray; 0: any free")
    tensorboard_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        description="port of TensorBoard on 127.0.0.1, open to every local user; 0: none, only the API reaches it",
    )
    temporal_ui: bool = Field(default=False, description="true to serve Temporal's Web UI (it has no password)")
    ray_cpus: int = Field(default=0, ge=0, le=4096, description="CPUs that Ray may use; 0: all of the machine's")
    ray_object_store_mb: int = Field(
        default=512, ge=80, le=1_000_000, description="memory of Ray's object store, in megabytes"
    )

    gateway: bool = Field(default=True, description="false to start no gateway, at which games call in")
    gateways: str = Field(
        default="",
        description="host:port of the control port of every gateway process, separated by commas, at which games call "
        "in; empty: none",
    )
    worker_user: str = Field(
        default="",
        pattern=r"^([a-z_][a-z0-9_.-]*\$?)?$",
        description="user that runs the train worker and Ray, and so all user code, where root runs the stack; "
        "empty: the user of the stack",
    )
    worker_env: str = Field(
        default="",
        pattern=r"^(\s*[A-Za-z_][A-Za-z0-9_]*\s*(,|$))*$",
        description="names of environment variables, separated by commas, that Ray and the train worker get besides "
        "those they need; user code can read them; no name may begin with LANISTA_",
    )

    @field_validator("worker_env")
    @classmethod
    def _no_settings_of_other_parts(cls, names: str) -> str:
        if any(name.strip().startswith(ENV_PREFIX) for name in names.split(",")):
            raise ValueError(f"{ENV_PREFIX}... are settings; each part gets its own and no others")
        return names

    @property
    def worker_env_names(self) -> frozenset[str]:
        return frozenset(name.strip() for name in self.worker_env.split(",") if name.strip())

    @model_validator(mode="after")
    def _embedded_temporal_speaks_no_tls(self) -> Self:
        if not self.temporal_address and self.speaks_tls:
            raise ValueError(
                "LANISTA_TEMPORAL_TLS, _TLS_CA, _TLS_CERT and _API_KEY apply only to an external Temporal: "
                "set LANISTA_TEMPORAL_ADDRESS too, or leave them out."
            )
        return self

    @model_validator(mode="after")
    def _embedded_temporal_is_sealed(self) -> Self:
        if not self.temporal_address and not self.temporal_sealed:
            raise ValueError(
                "LANISTA_TEMPORAL_SEALED=false applies only to an external Temporal: the embedded one lets every local "
                "user in. Set LANISTA_TEMPORAL_ADDRESS too, or leave it out."
            )
        return self


class ClientSettings(LanistaSettings):
    """The API's address and the token that the command line uses."""

    url: str = Field(default="", pattern="^(https?://.+)?$", description="address of the API; empty: the local stack's")
    token: SecretStr | None = Field(default=None, description="API token; empty: the local stack's admin token")


ALL_SETTINGS: tuple[type[LanistaSettings], ...] = (
    StackSettings,
    ClientSettings,
    ApiSettings,
    StoreSettings,
    WorkerSettings,
    GatewaySettings,
    LeagueGatewaySettings,
    TemporalSettings,
    ArtifactCacheSettings,
    CodeSettings,
    LogSettings,
    TraceSettings,
)

INTERNAL = {"LANISTA_CONFIG", "LANISTA_STACK", "LANISTA_READY_FILE", "LANISTA_BOOTSTRAP_TOKEN"}
"""Variables that are not settings: the settings file's path, and what the supervisor passes to its children."""


def known_settings() -> dict[str, str]:
    """Every setting's environment variable and its name in lanista.toml."""
    return {environment_name(group, field): field for group in ALL_SETTINGS for field in group.model_fields}


def check_roles() -> None:
    """Validate the settings of the parts that `lanista up` starts, before any is started."""
    ApiSettings.load()
    if WorkerSettings.load().tracing != "off":
        require_extra()


def refuse_unknown() -> None:
    """Raise SettingsError for unknown settings, which are usually misspelt."""
    names = known_settings()
    problems = [
        _unknown(variable, sorted(names), "environment variable")
        for variable in os.environ
        if variable.startswith(ENV_PREFIX) and variable not in names and variable not in INTERNAL
    ]
    problems += [
        _unknown(key, sorted(set(names.values())), f"key in {config_file()}")
        for key in _toml_keys()
        if key not in names.values()
    ]
    if problems:
        raise SettingsError("\n".join(problems))


def _toml_keys() -> list[str]:
    path = config_file()
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if "LANISTA_CONFIG" in os.environ:
            raise SettingsError(f"LANISTA_CONFIG={str(path)!r}: there is no such file.") from None
        return []
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from None
    return list(values)


def _unknown(name: str, allowed: list[str], kind: str) -> str:
    near = difflib.get_close_matches(name, allowed, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(allowed)}."
    return f"{name}: no such setting ({kind}). {hint}"
