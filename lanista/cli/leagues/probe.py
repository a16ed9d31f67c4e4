"""`lanista probe` and `lanista probes`: how exploitable a version is at least, by fresh responders."""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from lanista.cli.connection import ExitCode, connected
from lanista.cli.options import HomeOption, JsonOption, LimitOption
from lanista.cli.terminal import errors, out, print_json, print_line, uncut_table
from lanista.client import Client
from lanista.league_view.tables import status_text

if TYPE_CHECKING:
    from api.schemas.probes import Probe

POLL_SECONDS = 1.0


def probe(
    version: Annotated[
        str,
        typer.Argument(
            metavar="VERSION",
            help="project/trial/player:number, project/trial/player (the newest), project@alias, or its id; with "
            "--mixture a trial.",
            show_default=False,
        ),
    ],
    responders: Annotated[int, typer.Option("--responders", help="Fresh players that learn to beat it.")] = 3,
    steps: Annotated[int, typer.Option("--steps", help="Steps that each of them trains.")] = 200_000,
    games: Annotated[int, typer.Option("--games", help="Fresh games of each, an even number.")] = 200,
    seed: Annotated[int, typer.Option("--seed", help="Source of everything random.")] = 0,
    mixture: Annotated[
        bool, typer.Option("--mixture", help="Probe the Nash mixture of a trial's snapshots instead.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Follow it until it ends.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train fresh responders against a frozen version. What they win is a lower bound on its exploitability."""
    with connected(home) as client:
        target = {"trial_id": client.find_trial(version).id} if mixture else {"version_id": _version(client, version)}
        made = client.create_probe(**target, responders=responders, steps=steps, games=games, seed=seed)
        if not as_json:
            print_line(f"Started the probe of [bold]{escape(made.target)}[/] ({made.id}).")
        if watch:
            made = _follow(client, made, quiet=as_json)
    if as_json:
        print_json(made.model_dump(mode="json"))
    elif watch:
        _show(made)
    else:
        print_line(f"Look at it: lanista probes {made.trial_id}")
    if watch and made.status != "completed":
        raise typer.Exit(ExitCode.FAILED)


def probes(
    trial: Annotated[
        str,
        typer.Argument(
            metavar="TRIAL",
            help="The trial: project/name, its name alone if that is unique, or its id.",
            show_default=False,
        ),
    ],
    stop: Annotated[str | None, typer.Option("--stop", metavar="ID", help="Stop the probe of this id first.")] = None,
    limit: LimitOption = 30,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the probes of a trial's versions, newest first: how exploitable each was at least."""
    with connected(home) as client:
        found = client.find_trial(trial)
        if stop is not None:
            client.stop_probe(stop)
        listed = list(islice(client.probes(trial_id=found.id, page_size=min(limit, 500)), limit))
    if as_json:
        print_json([one.model_dump(mode="json") for one in listed])
        return
    table = uncut_table("target", "status", "responders", "steps", "win rate", "at least", "at most", "id")
    for one in listed:
        budget = [str(one.spec["responders"]), f"{one.spec['steps']:,}"]
        table.add_row(escape(one.target), status_text(one.status), *budget, *_numbers(one), one.id)
    out.print(table)


def _version(client: Client, reference: str) -> str:
    return client.find_version(reference).id


def _follow(client: Client, held: Probe, *, quiet: bool) -> Probe:
    """Wait for the end, with a progress bar of the responders' steps."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    whole = held.spec["responders"] * held.spec["steps"]
    with Progress(*columns, console=errors, disable=quiet) as progress:
        bar = progress.add_task("training", total=whole)
        while not held.is_over:
            time.sleep(POLL_SECONDS)
            held = client.probe(held.id)
            words = "training" if held.tournament_id is None else "playing"
            progress.update(bar, description=words, completed=sum(trial.steps for trial in held.trials))
    return held


def _show(held: Probe) -> None:
    reason = f": {escape(held.status_reason)}" if held.status_reason else ""
    print_line(f"The probe of [bold]{escape(held.target)}[/] is {status_text(held.status)}{reason}")
    if not held.responders:
        return
    table = uncut_table("responder", "steps", "games", "win rate", "at least", "at most")
    for each in held.responders:
        rates = (f"{each.win_rate:.3f}", f"{each.low:.3f}", f"{each.high:.3f}")
        table.add_row(escape(each.name), f"{each.steps:,}", f"{each.games:,}", *rates)
    out.print(table)


def _numbers(one: Probe) -> list[str]:
    return ["" if number is None else f"{number:.3f}" for number in (one.win_rate, one.low, one.high)]
