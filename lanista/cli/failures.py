"""Errors of a command that the user can fix: one message and an exit code."""

from __future__ import annotations

import sys

from rich.markup import escape

from lanista.cli.connection import ExitCode, exit_code, explain
from lanista.cli.terminal import errors
from lanista.client.errors import LanistaError
from lanista.stack.errors import NotRunning, NotStarted, StackError

_STACK_ERRORS = (
    ("orchestrator.settings", "SettingsError", ExitCode.FAILED),
    ("api.store.core.errors", "NotFound", ExitCode.NOT_FOUND),
    ("api.store.core.errors", "StoreError", ExitCode.FAILED),
    ("orchestrator.temporal", "TemporalUnreachable", ExitCode.UNREACHABLE),
    ("orchestrator.temporal.deployment", "NotPromoted", ExitCode.FAILED),
)
"""Errors of the stack, by module and name: a class whose module was not imported cannot have been raised."""


def report(error: Exception) -> None:
    """Print the error and exit; returns where it is a bug of Lanista's."""
    if isinstance(error, LanistaError):
        words, code = explain(error), exit_code(error)
    else:
        known = next((code for kind, code in _loaded_errors().items() if isinstance(error, kind)), None)
        if known is None:
            return
        words, code = str(error), known
    errors.print(f"[bold red]Error:[/] {escape(words)}", highlight=False, soft_wrap=True)
    sys.exit(code)


def _loaded_errors() -> dict[type[Exception], ExitCode]:
    """Errors that are reported in one line, and their exit codes."""
    codes: dict[type[Exception], ExitCode] = {
        NotStarted: ExitCode.UNREACHABLE,
        NotRunning: ExitCode.UNREACHABLE,
        StackError: ExitCode.FAILED,
    }
    for module, name, code in _STACK_ERRORS:
        if module in sys.modules:
            codes[getattr(sys.modules[module], name)] = code
    return codes
