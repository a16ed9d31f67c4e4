"""Connects commands to the API; exit codes and messages for its errors.

See docs/decisions/client-and-command-line.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from lanista.cli.exit_codes import ExitCode
from lanista.client import Client, LanistaError, Retries
from lanista.client.errors import (
    ChangedMeanwhile,
    Conflict,
    InvalidRequest,
    NoSuchName,
    NotAllowed,
    NotFound,
    NotSignedIn,
    TokenWithheld,
    Unavailable,
    Unreachable,
)
from lanista.client.local import ApiAddress, find_api

__all__ = ["ExitCode", "TrialArgument", "address", "connected", "exit_code", "explain"]

QUICK = Retries(attempts=3)
"""Few attempts: a person is waiting."""
COMPLETION = Retries(attempts=1)


_CODES: tuple[tuple[type[LanistaError], ExitCode], ...] = (
    (Unreachable, ExitCode.UNREACHABLE),
    (Unavailable, ExitCode.UNREACHABLE),
    (TokenWithheld, ExitCode.NOT_ALLOWED),
    (NotSignedIn, ExitCode.NOT_ALLOWED),
    (NotAllowed, ExitCode.NOT_ALLOWED),
    (NotFound, ExitCode.NOT_FOUND),
    (NoSuchName, ExitCode.NOT_FOUND),
    (Conflict, ExitCode.REFUSED),
    (ChangedMeanwhile, ExitCode.REFUSED),
    (InvalidRequest, ExitCode.REFUSED),
)
_NEXT_STEPS: tuple[tuple[type[LanistaError], str], ...] = (
    (
        Unreachable,
        "`lanista up` starts the local stack, `lanista status` shows it; LANISTA_URL names another.",
    ),
    (Unavailable, "`lanista doctor` checks each part."),
    (NotSignedIn, "Set LANISTA_TOKEN to a valid token; `lanista token create NAME --scope operator` makes one."),
    (
        NotAllowed,
        "Set LANISTA_TOKEN to a token that may; an admin makes one: `lanista token create NAME --scope {scope}`.",
    ),
    (NoSuchName, "`lanista trial list` shows all trials, `lanista trial show TRIAL` the players of one."),
)


def exit_code(error: LanistaError) -> int:
    return next((code for kind, code in _CODES if isinstance(error, kind)), ExitCode.FAILED)


def explain(error: LanistaError) -> str:
    """The error, and the next step where one is known."""
    words = str(error)
    if isinstance(error, InvalidRequest) and error.fields:
        wrong = [f"{item.field.removeprefix('body.')}: {item.message}" for item in error.fields]
        words = wrong[0] if len(wrong) == 1 else "\n  ".join(["The request is not valid:", *wrong])
    step = next((step for kind, step in _NEXT_STEPS if isinstance(error, kind)), "")
    if isinstance(error, NotAllowed):
        step = step.format(scope=error.more.get("needed_scope", "operator"))
    return words if not step or "`lanista " in words else f"{words}\n{step}"


def address(home: Path | None) -> ApiAddress:
    return find_api(home=home, allow=_confirm)


def _confirm(url: str) -> bool:
    """Ask the person at the terminal; elsewhere the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return typer.confirm(f"lanista.toml in this folder names {url}. Send your token there?", err=True)


@contextmanager
def connected(home: Path | None) -> Iterator[Client]:
    """A client of the API at the address from the settings or the data folder."""
    where = address(home)
    with Client(where, retries=QUICK) as client:
        yield client


def complete_trials(incomplete: str) -> list[str]:
    """Names of trials for shell completion; none if the API does not answer."""
    try:
        where = find_api()
        with Client(where, timeout=2, retries=COMPLETION) as client:
            labels = [trial.label for trial in islice(client.trials(page_size=200), 200)]
    except (LanistaError, OSError, ValueError):
        return []
    return [label for label in labels if label.startswith(incomplete)]


TrialArgument = Annotated[
    str,
    typer.Argument(
        metavar="TRIAL",
        help="The trial: project/name, its name alone if that is unique, or its id.",
        autocompletion=complete_trials,
        show_default=False,
    ),
]
