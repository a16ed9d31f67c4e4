"""The command line."""

from __future__ import annotations

import sys

import typer
from rich.markup import escape

from api.store.core.errors import NotFound, StoreError
from lanista.cli import (
    audit,
    bench,
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
from lanista.cli.terminal import errors
from lanista.client.errors import LanistaError
from lanista.settings import refuse_unknown
from lanista.stack.errors import NotRunning, NotStarted, StackError
from orchestrator.settings import SettingsError
from orchestrator.temporal import TemporalUnreachable

app = typer.Typer(
    name="lanista",
    help="Durable league training for game-playing agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(stack.up)
app.command()(stack.down)
app.command()(stack.status)
app.command()(doctor.doctor)
app.command()(demo.demo)
app.command()(audit.audit)
app.command()(roles.api)
app.command("serve")(roles.api)
app.command()(roles.migrate)
app.add_typer(roles.worker, name="worker")
app.add_typer(trial.trial, name="trial")
app.add_typer(league.league, name="league")
app.add_typer(model.model, name="model")
app.add_typer(gate.gate, name="gate")
app.add_typer(tournament.tournament, name="tournament")
app.add_typer(schedule.schedule, name="schedule")
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(bench.bench)
app.add_typer(token.token, name="token")


def _code(error: Exception) -> ExitCode:
    if isinstance(error, NotFound):
        return ExitCode.NOT_FOUND
    return ExitCode.UNREACHABLE if isinstance(error, NotStarted | NotRunning | TemporalUnreachable) else ExitCode.FAILED


def main() -> None:
    """Run the command; what a person did wrong comes out as one clear message, never as a stack trace."""
    try:
        refuse_unknown()
        app()
    except (StackError, SettingsError, StoreError, TemporalUnreachable) as error:
        errors.print(f"[bold red]Error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(_code(error))
    except LanistaError as error:
        errors.print(f"[bold red]Error:[/] {escape(explain(error))}", highlight=False, soft_wrap=True)
        sys.exit(exit_code(error))
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
