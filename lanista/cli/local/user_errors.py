"""Prints errors of a run in this process with the user's part of the traceback; `--pdb` debugs them there."""

from __future__ import annotations

import pdb
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

import typer

from lanista.cli.connection import ExitCode
from lanista.cli.terminal import errors
from workers.user_errors import UserCodeError, as_user_error
from workers.user_traceback import OWN_PACKAGES, is_user_file, user_traceback


@contextmanager
def report_errors(*, debug: bool) -> Iterator[None]:
    """Print errors of user code, and of what the user asked for, and exit with code 1; our own bugs are raised."""
    try:
        yield
    except typer.Exit:
        raise
    except Exception as error:
        told = as_user_error(error)
        frames = told.frames if isinstance(told, UserCodeError) else user_traceback(error)
        ours = type(told).__module__.partition(".")[0] in OWN_PACKAGES
        if not (frames or ours):
            raise
        for text, style in ((frames, ""), (str(told), "red")):
            if text:
                errors.print(text, style=style, highlight=False, markup=False, soft_wrap=True)
        if debug:
            post_mortem(error)
        raise typer.Exit(ExitCode.FAILED) from None


def post_mortem(error: BaseException) -> None:
    """Open the debugger where user code raised, or called what raised."""
    while isinstance(error, UserCodeError) and error.__cause__ is not None:
        error = error.__cause__
    debugger = pdb.Pdb()
    debugger.reset()
    debugger.interaction(None, _up_to_user_code(error.__traceback__))


def _up_to_user_code(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames below the user's innermost one; the whole one where there is none."""
    places: list[TracebackType] = []
    each = trace
    while each is not None:
        places.append(each)
        each = each.tb_next
    users = [number for number, place in enumerate(places) if is_user_file(place.tb_frame.f_code.co_filename)]
    if not users:
        return trace
    cut: TracebackType | None = None
    for place in reversed(places[: users[-1] + 1]):
        cut = TracebackType(cut, place.tb_frame, place.tb_lasti, place.tb_lineno)
    return cut
