"""How every part reads its settings: the environment first, then lanista.toml, then the default."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Self

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

ENV_PREFIX = "LANISTA_"


class SettingsError(Exception):
    """A setting has a wrong value; the message names it, the value and what is allowed."""


def config_file() -> Path:
    """The settings file: LANISTA_CONFIG, or lanista.toml in the working folder."""
    return Path(os.environ.get("LANISTA_CONFIG", "lanista.toml"))


class LanistaSettings(BaseSettings):
    """Base of each part's settings. A part declares only what it uses; one file and one environment serve all."""

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
            raise SettingsError("\n".join(_explain(cls, problem) for problem in error.errors())) from None
        except ValueError as error:  # a lanista.toml that is not TOML
            raise SettingsError(f"{config_file()}: {error}") from None


def environment_name(settings: type[LanistaSettings], field: str) -> str:
    """The environment variable that sets this field."""
    alias = settings.model_fields[field].validation_alias
    return str(alias).upper() if isinstance(alias, str) else f"{ENV_PREFIX}{field.upper()}"


def _explain(settings: type[LanistaSettings], problem: Any) -> str:
    location = str(problem["loc"][0]) if problem["loc"] else ""
    field = next(
        (name for name, info in settings.model_fields.items() if location.lower() in (name, info.validation_alias)),
        None,
    )
    if field is None:
        return f"settings: {problem['msg']}"
    info = settings.model_fields[field]
    secret = "SecretStr" in str(info.annotation)
    value = "(hidden)" if secret else repr(problem.get("input"))
    return f"{environment_name(settings, field)}={value}: {problem['msg']}. It is: {info.description}"


class TemporalSettings(LanistaSettings):
    """Where Temporal is."""

    temporal_address: str = Field(
        default="127.0.0.1:7233",
        pattern=r"^[^\s:/]+:\d{1,5}$",
        description="host:port of the Temporal frontend; set it to use a server of your own",
    )
    temporal_namespace: str = Field(default="default", min_length=1, description="Temporal namespace to work in")
    temporal_tls: bool = Field(default=False, description="true to speak TLS to Temporal (an API key implies it)")
    temporal_api_key: SecretStr | None = Field(default=None, description="API key for Temporal Cloud")
    temporal_tls_cert: Path | None = Field(
        default=None, description="client certificate file (PEM) for mutual TLS with Temporal"
    )
    temporal_tls_key: Path | None = Field(
        default=None, description="private key file (PEM) that belongs to the client certificate"
    )


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
