"""The environment of each part: what it needs by name, never the whole environment of whoever started the stack.

See docs/decisions/user-code.md.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from lanista.stack.processes.leftovers import MARK
from orchestrator.settings import ENV_PREFIX, LanistaSettings, environment_name
from orchestrator.worker_process import READY_FILE

_MACHINE = "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TERM COLUMNS NO_COLOR HOSTNAME"
_LIBRARIES = "VIRTUAL_ENV CONDA_PREFIX LD_LIBRARY_PATH LD_PRELOAD GLIBC_TUNABLES GOMAXPROCS GOMEMLIMIT GOGC GODEBUG"
_CERTIFICATES = "SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE"
_PROXIES = "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy"
BASE = frozenset(" ".join((_MACHINE, _LIBRARIES, _CERTIFICATES, _PROXIES)).split())
BASE_PREFIXES = ("LC_", "XDG_", "PYTHON", "GRPC_", "MALLOC_")
"""Every part gets these: the machine's own settings, and no secret."""
COMPUTE_PREFIXES = (
    *("OMP_", "MKL_", "OPENBLAS_", "NUMEXPR_", "KMP_", "GOMP_", "NUMBA_", "TORCH", "PYTORCH_", "XLA_", "JAX_"),
    *("CUDA_", "NVIDIA_", "NCCL_", "GLOO_", "HIP_", "HSA_", "ROCR_", "TF_CPP_", "SDL_", "MUJOCO_", "RAY_"),
)
"""Ray and the train worker get these too."""
DATABASE_PREFIXES = ("PG",)
"""Variables of libpq, for the two parts that connect to Postgres."""
_STORAGE_PREFIXES: Mapping[str, tuple[str, ...]] = {
    "s3": ("AWS_", "FSSPEC_S3"),
    "s3a": ("AWS_", "FSSPEC_S3"),
    "gs": ("GOOGLE_", "GCS_", "CLOUDSDK_", "FSSPEC_G"),
    "gcs": ("GOOGLE_", "GCS_", "CLOUDSDK_", "FSSPEC_G"),
    "az": ("AZURE_", "FSSPEC_A"),
    "abfs": ("AZURE_", "FSSPEC_A"),
    "abfss": ("AZURE_", "FSSPEC_A"),
}


def chosen(environment: Mapping[str, str], names: Iterable[str] = (), prefixes: Iterable[str] = ()) -> dict[str, str]:
    """The variables with these names or prefixes."""
    wanted, beginnings = frozenset(names), tuple(prefixes)
    return {name: value for name, value in environment.items() if name in wanted or name.startswith(beginnings)}


def base_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What every part gets."""
    return chosen(environment, BASE, BASE_PREFIXES)


def storage_prefixes(artifacts: str) -> tuple[str, ...]:
    """Prefixes of the credentials that the artifact store needs; none for a folder."""
    scheme, found, _ = artifacts.partition("://")
    return _STORAGE_PREFIXES.get(scheme.lower(), ("FSSPEC_",)) if found else ()


def variables_of(*groups: type[LanistaSettings]) -> frozenset[str]:
    """The environment variables of these settings."""
    return frozenset(environment_name(group, field) for group in groups for field in group.model_fields)


def as_environment(settings: LanistaSettings) -> dict[str, str]:
    """The settings as variables, so that the part need not read lanista.toml, which may hold secrets of others."""
    kind = type(settings)
    return {
        environment_name(kind, field): _text(value)
        for field, info in kind.model_fields.items()
        if (value := getattr(settings, field)) is not None and value != info.default
    }


def _text(value: Any) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value.resolve()) if isinstance(value, Path) else str(value)


def forget_secrets_of_others(own: type[LanistaSettings]) -> None:
    """Remove other roles' settings and libpq's variables from this process, which will run user code.

    `lanista up` and the Compose file do not pass them; whoever starts a role by hand may have them in the shell. If
    there are any, the process executes itself anew without them: else /proc/self/environ would still show them.
    """
    ours = variables_of(own) | {READY_FILE, MARK, "LANISTA_CONFIG"}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in ours or not name.startswith((ENV_PREFIX, *DATABASE_PREFIXES))
    }
    if len(kept) < len(os.environ):
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], kept)  # noqa: S606 the same command


def hide_own_secrets(own: type[LanistaSettings]) -> None:
    """Remove this role's own secrets from os.environ once its settings are read: user code finds none there."""
    for field, info in own.model_fields.items():
        if "SecretStr" in str(info.annotation):
            os.environ.pop(environment_name(own, field), None)
