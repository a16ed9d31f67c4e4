"""Settings of every part: from the environment, then lanista.toml, then defaults."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Self

from pydantic import AwareDatetime, Field, FilePath, SecretStr, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from orchestrator.user_code.import_folders import parse_folders

ENV_PREFIX = "LANISTA_"


class SettingsError(Exception):
    """A setting has a wrong value; the message names it, the value and what is allowed."""


def config_file() -> Path:
    """The settings file: LANISTA_CONFIG, or lanista.toml in the working folder."""
    return Path(os.environ.get("LANISTA_CONFIG", "lanista.toml"))


class LanistaSettings(BaseSettings):
    """The base of each part's settings. A part declares what it uses; all read the same file and environment."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, extra="ignore", populate_by_name=True, env_ignore_empty=True
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, config_file())

    @classmethod
    def load(cls, **overrides: Any) -> Self:
        """Read the settings, or raise SettingsError with one line for each wrong value."""
        try:
            return cls(**overrides)
        except ValidationError as error:
            problems = [_explain(cls, problem, overrides) for problem in error.errors()]
            raise SettingsError("\n".join(problems)) from None
        except (ValueError, OSError) as error:  # lanista.toml is not TOML, or cannot be read
            raise SettingsError(f"{config_file()}: {error}") from None


def environment_name(settings: type[LanistaSettings], field: str) -> str:
    """The environment variable that sets this field."""
    alias = settings.model_fields[field].validation_alias
    return str(alias).upper() if isinstance(alias, str) else f"{ENV_PREFIX}{field.upper()}"


def _explain(settings: type[LanistaSettings], problem: Any, overrides: dict[str, Any]) -> str:
    reason = str(problem["msg"]).removeprefix("Value error, ")
    location = str(problem["loc"][0]).lower() if problem["loc"] else ""
    field = next(
        (name for name, info in settings.model_fields.items() if location in (name, info.validation_alias)), None
    )
    if field is None:  # two settings contradict each other; the message names them
        return reason
    info = settings.model_fields[field]
    variable = environment_name(settings, field)
    if field in overrides:
        name = f"--{field.replace('_', '-')}"
    elif variable in os.environ:
        name = variable
    else:
        name = f"{config_file()}: {field}"
    value = "(hidden)" if "SecretStr" in str(info.annotation) else repr(problem.get("input"))
    return f"{name}={value}: {reason}. Allowed: {allowed(info)}"


def allowed(info: FieldInfo) -> str:
    """The allowed values of a setting, in words: its description, and the range of a number."""
    bounds = [
        f"{word} {getattr(constraint, name)}"
        for constraint in info.metadata
        for name, word in (("ge", "at least"), ("le", "at most"))
        if hasattr(constraint, name)
    ]
    return f"{info.description} ({', '.join(bounds)})" if bounds else str(info.description)


class ArtifactCacheSettings(LanistaSettings):
    """Where the processes of one node keep what they pulled from an object store."""

    artifact_cache: Path | None = Field(
        default=None,
        description="folder on the node's own disk for checkpoints pulled from an object store, which the node's "
        "processes share; empty: lanista-artifacts-UID in the folder for temporary files",
    )
    artifact_cache_mb: int = Field(
        default=10_000,
        ge=0,
        le=1 << 30,
        description="most MB of that folder, of which those used longest ago are removed; 0: no cache",
    )


class CodeSettings(LanistaSettings):
    """What own code may do to a node."""

    install_packages: bool = Field(
        default=False,
        description="true: packages that own code names and a node lacks are installed there by pip, into a folder of "
        "their own; false: such code is refused with the command to install them",
    )


SHORTEST_SECRET = 32


def _secrets(value: SecretStr | None) -> list[str]:
    texts = [] if value is None else value.get_secret_value().split(",")
    return [text.strip() for text in texts if text.strip()]


class TemporalSettings(LanistaSettings):
    """Where Temporal is, and the keys that seal what goes through it."""

    temporal_address: str = Field(
        default="127.0.0.1:7233",
        pattern=r"^[^\s:/]+:\d{1,5}$",
        description="host:port of the Temporal frontend; set it to use a server of your own",
    )
    temporal_namespace: str = Field(default="default", min_length=1, description="Temporal namespace to work in")
    temporal_tls: bool = Field(
        default=False, description="true to speak TLS to Temporal (an API key, a CA or a client certificate implies it)"
    )
    temporal_api_key: SecretStr | None = Field(default=None, description="API key for Temporal Cloud")
    temporal_api_key_file: FilePath | None = Field(
        default=None,
        description="file that holds the API key in place of LANISTA_TEMPORAL_API_KEY; read again every few seconds, "
        "so that the key can be rotated without a restart",
    )
    temporal_tls_ca: FilePath | None = Field(
        default=None,
        description="file (PEM) with the CA certificates that Temporal's certificate must be signed by; not set: those "
        "of the machine",
    )
    temporal_tls_server_name: str = Field(
        default="",
        pattern=r"^[^\s/:]*$",
        description="name that Temporal's certificate must be for; empty: the host of LANISTA_TEMPORAL_ADDRESS",
    )
    temporal_tls_cert: FilePath | None = Field(
        default=None, description="client certificate file (PEM) for mutual TLS with Temporal"
    )
    temporal_tls_key: FilePath | None = Field(
        default=None, description="private key file (PEM) that belongs to the client certificate"
    )

    temporal_deployment: str = Field(
        default="",
        pattern=r"^[A-Za-z0-9_-]{0,64}$",
        description="name of a Temporal worker deployment, for rolling upgrades: tasks then go to the build that is "
        "current in it, and to no other worker; empty: to any worker",
    )
    temporal_build_id: str = Field(
        default="",
        pattern=r"^[A-Za-z0-9._+-]{0,128}$",
        description="what tells this build of the workers from others in the deployment; empty: Lanista's release",
    )
    temporal_promote: bool = Field(
        default=False,
        description="true: a worker that starts makes its build the current one of the deployment, as those of "
        "`lanista up` do; false: only where none is current",
    )

    temporal_sealed: bool = Field(
        default=True,
        description="false to send everything through Temporal as plain text: only for a server of your own that "
        "authenticates every client, such as by mutual TLS",
    )
    temporal_key: SecretStr | None = Field(
        default=None,
        description="secrets of at least 32 characters, separated by commas, that seal what workflows and the store "
        "worker get through Temporal: the first one seals, all of them open. Not for train workers",
    )
    temporal_train_key: SecretStr | None = Field(
        default=None,
        description="secrets of at least 32 characters, separated by commas, that seal what train workers get through "
        "Temporal: the first one seals, all of them open",
    )
    temporal_sealed_since: AwareDatetime | None = Field(
        default=None,
        description="when sealing began, as 2026-11-17T13:00:00Z: workflows begun before may go on. Only for an "
        "installation that ran without sealing",
    )

    @field_validator("temporal_key", "temporal_train_key")
    @classmethod
    def _keys_are_long(cls, value: SecretStr | None) -> SecretStr | None:
        if any(len(secret) < SHORTEST_SECRET for secret in _secrets(value)):
            raise ValueError(f"a secret is shorter than {SHORTEST_SECRET} characters")
        return value

    @model_validator(mode="after")
    def _keys_differ(self) -> Self:
        if set(self.league_secrets) & set(self.train_secrets):
            raise ValueError(
                "LANISTA_TEMPORAL_KEY and LANISTA_TEMPORAL_TRAIN_KEY share a secret: train workers, which run users' "
                "code, could then give orders to the store."
            )
        return self

    @property
    def league_secrets(self) -> list[str]:
        return _secrets(self.temporal_key)

    @property
    def train_secrets(self) -> list[str]:
        return _secrets(self.temporal_train_key)

    @property
    def speaks_tls(self) -> bool:
        """Whether the connection to Temporal is encrypted."""
        secrets = (self.temporal_api_key, self.temporal_api_key_file, self.temporal_tls_cert, self.temporal_tls_ca)
        return self.temporal_tls or any(secrets) or bool(self.temporal_tls_server_name)

    @model_validator(mode="after")
    def _one_api_key(self) -> Self:
        if self.temporal_api_key and self.temporal_api_key_file:
            raise ValueError("LANISTA_TEMPORAL_API_KEY and LANISTA_TEMPORAL_API_KEY_FILE: set one of them.")
        return self

    @model_validator(mode="after")
    def _certificate_has_its_key(self) -> Self:
        if bool(self.temporal_tls_cert) != bool(self.temporal_tls_key):
            raise ValueError("LANISTA_TEMPORAL_TLS_CERT and LANISTA_TEMPORAL_TLS_KEY: set both or neither.")
        return self


class ImportSettings(LanistaSettings):
    """From where weights and data may be read by their path."""

    import_folders: str = Field(
        default=".lanista/imports",
        description="folders, separated by commas, in which `initial_weights` and data sets may name files; "
        "the same for the API, which checks the name, and the train worker, which reads the file",
    )

    @property
    def imports(self) -> tuple[Path, ...]:
        return parse_folders(self.import_folders)


METRICS_ADDRESS = r"^((\d{1,3}(\.\d{1,3}){3}|\[[0-9a-fA-F:]+\]):\d{1,5})?$"
"""ip:port, or nothing."""


class LogSettings(LanistaSettings):
    """How the process writes its log."""

    log_level: str = Field(
        default="info", pattern="^(debug|info|warning|error)$", description="debug, info, warning or error"
    )
    log_format: str = Field(
        default="auto",
        pattern="^(auto|pretty|json)$",
        description="auto (pretty on a terminal, JSON elsewhere), pretty or json",
    )


_HEADER = r" *[A-Za-z0-9_-]+=[ -+\--~]*"
_HEADERS = re.compile(f"{_HEADER}(,{_HEADER})*")


class TraceSettings(LanistaSettings):
    """Whether the process traces, and where its spans go."""

    tracing: str = Field(
        default="off",
        pattern="^(off|file|otlp)$",
        description="off, file (spans into files, which `lanista trace` shows) or otlp (spans to a collector of "
        "OpenTelemetry); both need the extra `tracing`",
    )
    trace_folder: str = Field(
        default=".lanista/traces", min_length=1, description="folder of the files with LANISTA_TRACING=file"
    )
    trace_endpoint: str = Field(
        default="http://127.0.0.1:4318/v1/traces",
        pattern=r"^https?://[!-~]+$",
        description="where the collector takes spans by OTLP over HTTP, with LANISTA_TRACING=otlp",
    )
    trace_headers: SecretStr | None = Field(
        default=None,
        description="headers (name=value, separated by commas) that the collector asks for, such as an API key",
    )

    @field_validator("trace_headers")
    @classmethod
    def _headers_have_names(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not _HEADERS.fullmatch(value.get_secret_value()):
            raise ValueError("must be name=value, several separated by commas")
        return value

    @property
    def headers_of_traces(self) -> dict[str, str]:
        text = "" if self.trace_headers is None else self.trace_headers.get_secret_value()
        pairs = (pair.partition("=") for pair in text.split(",") if pair)
        return {name.strip().lower(): value.strip() for name, _, value in pairs}
