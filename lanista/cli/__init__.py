"""The command line."""

from __future__ import annotations

import sys

import typer
from rich.markup import escape

from lanista.shadowing import refuse_shadowed

refuse_shadowed()  # before the packages that may be hidden are imported

# ruff: noqa: E402
from lanista.cli import (
    audit,
    bench,
    data,
    demo,
    doctor,
    gate,
    league,
    model,
    roles,
    schedule,
    stack,
    token,
    tournament,
    trial,
)
from lanista.cli.connection import ExitCode, exit_code, explain
from lanista.cli.stack_extra import needs_stack, require_stack
from lanista.cli.terminal import errors
from lanista.client.errors import LanistaError
from lanista.settings import refuse_unknown
from lanista.stack.errors import NotRunning, NotStarted, StackError
from orchestrator.settings import SettingsError

app = typer.Typer(
    name="lanista",
    help="Durable league training for game-playing agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(needs_stack(stack.up))
app.command()(stack.down)
app.command()(stack.status)
app.command()(needs_stack(doctor.doctor))
app.command()(needs_stack(demo.demo))
app.command()(needs_stack(audit.audit))
app.command()(needs_stack(roles.api))
app.command("serve")(needs_stack(roles.api))
app.command()(needs_stack(roles.migrate))
app.add_typer(roles.worker, name="worker", callback=require_stack)
app.add_typer(trial.trial, name="trial")
app.add_typer(league.league, name="league")
app.add_typer(model.model, name="model")
app.add_typer(gate.gate, name="gate")
app.add_typer(data.data, name="data")
app.add_typer(tournament.tournament, name="tournament")
app.add_typer(schedule.schedule, name="schedule")
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(bench.bench)
app.add_typer(token.token, name="token", callback=require_stack)


_STACK_ERRORS = (
    ("api.store.core.errors", "NotFound", ExitCode.NOT_FOUND),
    ("api.store.core.errors", "StoreError", ExitCode.FAILED),
    ("orchestrator.temporal", "TemporalUnreachable", ExitCode.UNREACHABLE),
)
"""Errors of the stack, by module and name: a class whose module was not imported cannot have been raised."""


def _loaded_errors() -> dict[type[Exception], ExitCode]:
    """Errors that are reported in one line, and their exit codes."""
    codes: dict[type[Exception], ExitCode] = {
        NotStarted: ExitCode.UNREACHABLE,
        NotRunning: ExitCode.UNREACHABLE,
        StackError: ExitCode.FAILED,
        SettingsError: ExitCode.FAILED,
    }
    for module, name, code in _STACK_ERRORS:
        if module in sys.modules:
            codes[getattr(sys.modules[module], name)] = code
    return codes


def main() -> None:
    """Run the command. Errors that the user can fix are one message, never a stack trace."""
    try:
        refuse_unknown()
        app()
    except LanistaError as error:
        errors.print(f"[bold red]Error:[/] {escape(explain(error))}", highlight=False, soft_wrap=True)
        sys.exit(exit_code(error))
    except tuple(_loaded_errors()) as error:
        errors.print(f"[bold red]Error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(next(code for kind, code in _loaded_errors().items() if isinstance(error, kind)))
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
