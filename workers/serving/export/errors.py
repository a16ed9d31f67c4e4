"""Errors of an export.

ExportError
├── NotExportable    the version's policy cannot be written as one graph
├── MissingExtra     a package of the extra `onnx` is not installed
└── TooDifferent     the exported model does not compute what torch does
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

INSTALL = "pip install 'lanista[onnx]'"


class ExportError(Exception):
    """A version that cannot be exported; the message says why."""


class NotExportable(ExportError):
    """The policy cannot be written as one graph."""


class MissingExtra(ExportError):
    """Packages of the extra `onnx` are not installed."""


class TooDifferent(ExportError):
    """The exported model does not compute what torch does."""


def require_onnx(packages: Iterable[str] = ("onnx", "onnxruntime", "onnxscript")) -> None:
    """Raise MissingExtra, with the command that installs them, if packages are missing."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise MissingExtra(f"ONNX needs {', '.join(missing)}, not installed here: {INSTALL}")
