"""`lanista trial`: checks and starts trial files, lists and shows trials."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from api.schemas.enums import TrialSort, TrialStatus
from lanista.cli.connection import ExitCode, TrialArgument, address, connected
from lanista.cli.leagues import sharing, trial_notes, trial_orders
from lanista.cli.leagues.code_upload import packed, shipped
from lanista.cli.leagues.trial_checks import checked_file, file_to_train, try_components
from lanista.cli.leagues.trial_orders import watch_until_end
from lanista.cli.options import HomeOption, JsonOption, LimitOption
from lanista.cli.terminal import errors, out, print_json, print_line, uncut_table
from lanista.client import Client
from lanista.client.errors import Conflict
from lanista.league_view.tables import duration, end_text, headline, players_table, players_to_show, status_text
from orchestrator.spec.values import duration_text

if TYPE_CHECKING:
    from api.schemas.progress import TrialProgress
    from api.schemas.trials import Trial, TrialSummary
    from orchestrator.spec.budget import BudgetSpec
    from orchestrator.spec.trial import TrialFile

trial = typer.Typer(help="Trials: check, start, watch, pause, resume, stop, fork.", no_args_is_help=True)

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Trial file (YAML).", show_default=False)]
ProjectOption = Annotated[str | None, typer.Option("--project", "-p", help="Only this project.")]
MOST_PLAYERS = 30
MOST_ASKED = 10
"""Running trials of a list that are asked what they do: each is a request."""


@trial.command()
def validate(file: FileArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Check a trial file and summarise it. Exit code 1 if it is invalid, with all problems listed.

    Where a stack runs, a worker of it tries the game, the model and the algorithm together.
    """
    checked = checked_file(file, as_json)
    not_checked = try_components(file, checked, home, as_json)
    if not_checked is not None and not as_json:
        errors.print(f"[yellow]{escape(not_checked)}[/]", highlight=False, soft_wrap=True)
    if as_json:
        print_json({"ok": True, "file": str(file), "trial": checked.to_json(), "not_checked": not_checked})
    else:
        out.print(
            f"[green]ok[/] {escape(str(file))}: trial {checked.trial} of project {checked.project}", highlight=False
        )
        _summarise(checked)


@trial.command()
def report(
    trial: TrialArgument,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; default: the terminal.")] = None,
    home: HomeOption = None,
) -> None:
    """Write the report of a league: one HTML file with ratings, payoff, players and what happened."""
    with connected(home) as client:
        text = client.league_report(client.find_trial(trial))
    if output is None:
        typer.echo(text)
    else:
        output.write_text(text, encoding="utf-8")


@trial.command()
def schema() -> None:
    """Print the JSON Schema of trial files, for editors."""
    from orchestrator.spec.trial import trial_json_schema

    print_json(trial_json_schema())


@trial.command()
def start(
    file: FileArgument,
    project: Annotated[str | None, typer.Option("--project", "-p", help="Project, instead of the file's.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name, instead of the file's.")] = None,
    paused: Annotated[bool, typer.Option("--paused", help="Create it paused; `trial resume` starts it.")] = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Show it live until it ends.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a trial file and start its trial."""
    checked = file_to_train(file, as_json)
    spec = checked.spec.to_json() | ({"start": "paused"} if paused else {})
    code = packed(file, spec)
    with connected(home) as client:
        spec = shipped(client, spec, code)
        try:
            made = client.create_trial(project=project or checked.project, name=name or checked.trial, spec=spec)
        except Conflict as error:
            errors.print(f"[red]{escape(str(error))}[/]; choose another name with --name.", soft_wrap=True)
            raise typer.Exit(ExitCode.REFUSED) from None
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        print_line(f"Started [bold]{escape(made.label)}[/] ({made.id}).")
    if watch:
        watch_until_end(made, address(home), as_json)
    elif not as_json:
        print_line(f"Watch it: lanista trial watch {escape(made.label)}")


@trial.command("list")
def list_all(
    project: ProjectOption = None,
    status: Annotated[
        list[TrialStatus] | None, typer.Option("--status", "-s", help="Only with this status (repeatable).")
    ] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Include archived trials.")] = False,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="Only with this tag (repeatable).")] = None,
    words: Annotated[
        str | None, typer.Option("--search", help="Only with these words in name, game, tags or notes.")
    ] = None,
    sort: Annotated[
        TrialSort, typer.Option("--sort", help="Order; with a hyphen it falls, as --sort=-steps.")
    ] = TrialSort.NEWEST,
    limit: LimitOption = 50,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List trials, newest first unless sorted otherwise."""
    with connected(home) as client:
        listing = client.trials(
            project=project,
            status=status or (),
            archived=archived,
            tag=tag or (),
            q=words,
            sort=sort,
            page_size=min(limit, 500),
        )
        found = list(islice(listing, limit))
        now = {} if as_json else _progress(client, found)
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
        return
    if not found:
        print_line("No trials. Start one: lanista trial start FILE")
        return
    table = uncut_table("trial", "game", "status", "steps", "steps/s", "ends", "commit", "created", "took", "id")
    for one in found:
        table.add_row(*_row(one, now.get(one.id)))
    out.print(table)
    for one in found:
        if one.status is TrialStatus.FAILED and one.status_reason:
            # `trial show` has the traceback
            print_line(f"[red]{escape(one.label)}[/] failed: {escape(one.status_reason.splitlines()[0])}")
    for one in found:
        if hindrances := _hindrances(now.get(one.id)):
            print_line(f"[yellow]{escape(one.label)}[/]: {escape('; '.join(hindrances))}")


def _progress(client: Client, trials: list[TrialSummary]) -> dict[str, TrialProgress]:
    """What running trials do now, by id."""
    running = [trial for trial in trials if trial.status is TrialStatus.RUNNING]
    return {one.id: client.trial_progress(one) for one in running[:MOST_ASKED]}


def _hindrances(now: TrialProgress | None) -> list[str]:
    """What keeps a running trial from going on."""
    if now is None:
        return []
    waiting = [f"{each.player} waits for {each.waiting}" for each in now.generations if each.waiting]
    idle = waiting if len(waiting) == len(now.generations) else []
    return [*(trouble.splitlines()[0] for trouble in now.troubles), *idle]


def _row(one: TrialSummary, now: TrialProgress | None) -> list[str]:
    took = "" if not (one.started_at and one.finished_at) else duration(one.finished_at - one.started_at)
    created = one.created_at.astimezone().strftime("%Y-%m-%d %H:%M")
    commit = str(one.last_commit)
    return [
        escape(one.label),
        escape(one.game),
        status_text(one.status),
        f"{one.steps:,}",
        "" if now is None or now.speed is None else f"{now.speed.steps_per_second:,.0f}",
        "" if now is None else end_text(one, now.speed).partition(",")[0],
        commit,
        created,
        took,
        one.id,
    ]


@trial.command()
def show(
    trial: TrialArgument,
    as_file: Annotated[bool, typer.Option("--file", help="Print its trial file (YAML), defaults included.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a trial: status, players, ratings and aliases."""
    with connected(home) as client:
        found = client.find_trial(trial)
        if as_json:
            print_json(found.model_dump(mode="json"))
        elif as_file:
            out.print(_as_file(found), markup=False, highlight=False, soft_wrap=True, end="")
        else:
            league = client.league(found)
            now = None if found.is_over else client.trial_progress(found)
            under_way = {} if now is None else {each.player_id: each for each in now.generations}
            out.print(headline(found, None if now is None else now.speed))
            out.print(players_table(league, players_to_show(league, MOST_PLAYERS), under_way))
            for trouble in [] if now is None else now.troubles:
                print_line(f"[yellow]{escape(trouble.splitlines()[0])}[/]")
            print_line(f"[dim]id {found.id} · seed {found.seed}{_origin(found)}[/]")


def _as_file(found: Trial) -> str:
    from orchestrator.spec.reading.writing import file_text

    return file_text(found.project, found.name, found.spec)


def _origin(found: Trial) -> str:
    if found.forked_from_trial_id is None:
        return ""
    return f" · forked from {found.forked_from_trial_id} at commit {found.forked_at_commit}"


def _summarise(checked: TrialFile) -> None:
    table = Table("section", "value", show_header=False)
    table.add_row("game", checked.game.id)
    table.add_row("model, algorithm", f"{checked.model.id}, {checked.algorithm.id}")
    table.add_row("preset", checked.league.preset)
    for player in checked.league.players:
        own = ", ".join(choice.id for choice in (player.model, player.algorithm) if choice is not None)
        words = (str(player.role), player.bot or player.weights or "", f"({own})" if own else "")
        table.add_row(f"player {player.name}", " ".join(word for word in words if word))
    generation = checked.generation
    table.add_row(
        "generation", f"{generation.steps:,} steps on {generation.rollout_actors} x {generation.tables} tables"
    )
    table.add_row("budget", _limits(checked.budget))
    table.add_row("start", checked.start)
    out.print(table)


def _limits(budget: BudgetSpec) -> str:
    limits = [f"{budget.steps:,} steps"] if budget.steps else []
    limits += [duration_text(budget.wall_clock)] if budget.wall_clock else []
    limits += [f"win rate {budget.until.win_rate:g} against {budget.until.opponent}"] if budget.until else []
    return " or ".join(limits)


trial.command()(trial_orders.watch)
trial.command()(trial_orders.pause)
trial.command()(trial_orders.resume)
trial.command()(trial_orders.stop)
trial.command()(trial_orders.fork)
trial.command()(trial_orders.archive)
trial.command()(trial_notes.rename)
trial.command()(trial_notes.tag)
trial.command()(trial_notes.note)
trial.command()(sharing.priority)
