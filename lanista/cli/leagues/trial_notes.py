"""`lanista trial rename|tag|note`: a trial's name, tags and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from lanista.cli.connection import TrialArgument, connected
from lanista.cli.options import HomeOption, JsonOption
from lanista.cli.terminal import print_json, print_line

if TYPE_CHECKING:
    from api.schemas.trials import Trial


def rename(
    trial: TrialArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its new name.", show_default=False)],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rename a trial. Its former name still leads to it, and no other trial of the project can get it."""
    with connected(home) as client:
        found = client.find_trial(trial)
        changed = client.change_trial(found, name=name)
    _show(changed, f"{escape(found.label)} is now [bold]{escape(changed.label)}[/].", as_json)


def tag(
    trial: TrialArgument,
    tags: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TAG]...", help="Tags to add; with --remove, to take away.", show_default=False),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the tags away.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add tags to a trial, or take them away; without tags, show those it has."""
    given = tags or []
    with connected(home) as client:
        found = client.find_trial(trial)
        if given:
            kept = [each for each in found.tags if each not in given]
            found = client.change_trial(found, tags=kept if remove else [*kept, *given], if_revision=found.revision)
    _show(found, f"{escape(found.label)}: {escape(', '.join(found.tags)) or 'no tags'}", as_json)


def note(
    trial: TrialArgument,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="The notes, in place of what is there.", show_default=False)
    ] = None,
    append: Annotated[bool, typer.Option("--append", help="Add the text below what is there.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write what you want to remember about a trial; without a text, show it. An empty text removes it."""
    with connected(home) as client:
        found = client.find_trial(trial)
        if text is not None:
            notes = f"{found.notes}\n{text}" if append and found.notes else text
            found = client.change_trial(found, notes=notes, if_revision=found.revision)
    _show(found, escape(found.notes) or f"{escape(found.label)} has no notes.", as_json)


def _show(trial: Trial, words: str, as_json: bool) -> None:
    if as_json:
        print_json(trial.model_dump(mode="json"))
    else:
        print_line(words)
