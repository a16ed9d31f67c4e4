"""`lanista trial watch|pause|resume|stop|fork|archive`: follows and controls a running trial."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape

from lanista.cli.connection import ExitCode, TrialArgument, address, connected
from lanista.cli.options import HomeOption, JsonOption
from lanista.cli.terminal import errors, out, print_json, print_line
from lanista.client import Client
from lanista.client.local import ApiAddress
from lanista.league_view.tables import status_text

if TYPE_CHECKING:
    from api.schemas.events import Event
    from api.schemas.trials import TrialSummary

WaitOption = Annotated[bool, typer.Option("--wait", help="Wait until it has happened.")]
POLL_SECONDS = 0.5


def watch(trial: TrialArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show a trial live until it ends; Ctrl-C leaves it running. With --json: one event per line.

    Exit code 0 if the trial completed or was stopped, 1 if it failed, 130 after Ctrl-C.
    """
    where = address(home)
    with connected(home) as client:
        found = client.find_trial(trial)
    watch_until_end(found, where, as_json)


def watch_until_end(trial: TrialSummary, where: ApiAddress, as_json: bool) -> None:
    """Follow a trial to its end; the exit code says how it ended."""
    from lanista.league_view.live import watch_trial

    live = watch_trial(trial.id, out, where=where, on_event=_print_event if as_json else None)
    last = trial if live is None else live.league.trial
    if not last.is_over:
        errors.print(f"The trial continues. Watch it again: lanista trial watch {escape(last.label)}", soft_wrap=True)
        raise typer.Exit(ExitCode.INTERRUPTED)
    if not as_json:
        reason = f": {escape(last.status_reason)}" if last.status_reason else ""
        print_line(f"{escape(last.label)} is {status_text(last.status)}{reason}")
    if last.status == "failed":
        raise typer.Exit(ExitCode.FAILED)


def _print_event(event: Event) -> None:
    words = json.dumps(event.model_dump(mode="json", exclude_defaults=True))
    out.print(words, markup=False, highlight=False, soft_wrap=True)


def pause(trial: TrialArgument, wait: WaitOption = False, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Pause a trial: every player finishes its generation, then waits."""
    _order(trial, Client.pause_trial, home, as_json, {"paused"} if wait else None)


def resume(trial: TrialArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Resume a paused trial, or one that was started with --paused."""
    _order(trial, Client.resume_trial, home, as_json)


def stop(
    trial: TrialArgument,
    now: Annotated[bool, typer.Option("--now", help="Abandon running generations; stops within seconds.")] = False,
    reason: Annotated[str | None, typer.Option("--reason", help="Reason, kept in the records.")] = None,
    wait: WaitOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop a trial for good. Running generations are finished and recorded, unless --now."""
    mode: Literal["drain", "now"] = "now" if now else "drain"

    def order(client: Client, found: TrialSummary) -> TrialSummary:
        return client.stop_trial(found, mode=mode, reason=reason)

    _order(trial, order, home, as_json, {"stopped"} if wait else None)


def archive(trial: TrialArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Archive a finished trial: lists leave it out, and it can still be read and forked."""
    _order(trial, Client.archive_trial, home, as_json)


def fork(
    trial: TrialArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new trial.", show_default=False)],
    at: Annotated[int | None, typer.Option("--at", min=0, help="Commit to fork at; default: the newest.")] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change to the trial file, as algorithm.entropy=0.02."),
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Start a new trial from another trial's state at a commit: weights, results and payoff."""
    overrides = parse_changes(changes or [])
    with connected(home) as client:
        made = client.fork_trial(client.find_trial(trial), name=name, at_commit=at, changes=overrides or None)
    if as_json:
        print_json(made.model_dump(mode="json"))
        return
    print_line(f"Forked as [bold]{escape(made.label)}[/] ({made.id}) at commit {made.forked_at_commit}.")
    print_line(f"Watch it: lanista trial watch {escape(made.label)}")


def parse_changes(changes: list[str]) -> dict[str, Any]:
    """`a.b=1` as {"a": {"b": 1}}; anything else is a usage error."""
    found: dict[str, Any] = {}
    for change in changes:
        path, sign, text = change.partition("=")
        *sections, option = path.strip().split(".")
        if not sign or not option or not all(sections):
            raise typer.BadParameter(f"{change!r}: write it as section.option=value", param_hint="--set")
        place = found
        for section in sections:
            place = place.setdefault(section, {})
            if not isinstance(place, dict):
                raise typer.BadParameter(f"{path}: {section} already has a value", param_hint="--set")
        place[option] = _value(text)
    return found


def _value(text: str) -> Any:
    """The text as JSON if it is valid JSON, so that 1e-3 is a number; else as YAML."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise typer.BadParameter(f"{text!r} is not a value: {error}", param_hint="--set") from None


def _order(
    reference: str,
    order: Callable[[Client, TrialSummary], TrialSummary],
    home: Path | None,
    as_json: bool,
    until: set[str] | None = None,
) -> None:
    with connected(home) as client:
        found = order(client, client.find_trial(reference))
        if until is not None:
            found = _wait(client, found, until)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        archived = " and archived" if found.archived_at else ""
        print_line(f"{escape(found.label)} is {status_text(found.status)}{archived}")
    if until is not None and found.status not in until:
        raise typer.Exit(ExitCode.REFUSED)


def _wait(client: Client, trial: TrialSummary, until: set[str]) -> TrialSummary:
    """Wait until the trial has one of these statuses or is over."""
    with errors.status(f"{escape(trial.label)} is {trial.status} …") as spinner:
        while trial.status not in until and not trial.is_over:
            time.sleep(POLL_SECONDS)
            trial = client.trial(trial)
            spinner.update(f"{escape(trial.label)} is {trial.status} …")
    return trial
