"""`lanista tournament`: runs, lists, shows, reports and cancels tournaments."""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.table import Table

from api.schemas.tournaments import Tournament
from lanista.cli.connection import ExitCode, connected
from lanista.cli.options import HomeOption, JsonOption, LimitOption
from lanista.cli.terminal import errors, out, print_json, print_line, uncut_table
from lanista.client import Client
from lanista.client.errors import NoSuchName
from orchestrator.spec.reading.problems import InvalidTrial
from orchestrator.spec.values import is_id

tournament = typer.Typer(help="Tournaments: run, list, show, report, cancel.", no_args_is_help=True)

POLL_SECONDS = 0.5
FINAL = ("completed", "cancelled", "failed")


ReportForm = Literal["markdown", "html", "csv", "json"]
FileOption = Annotated[Path | None, typer.Argument(metavar="FILE", help="Tournament file (YAML).", show_default=False)]


def _an_id(named: str) -> str:
    if not is_id(named):
        raise NoSuchName(f"{named!r} is not the id of a tournament; `lanista tournament list` shows them")
    return named


IdArgument = Annotated[
    str,
    typer.Argument(metavar="TOURNAMENT", help="The tournament's id.", callback=_an_id, show_default=False),
]
ProjectOption = Annotated[str | None, typer.Option("--project", help="Project (default: default).")]
TrialOption = Annotated[str | None, typer.Option("--trial", help="Trial of the project whose players take part.")]
GameOption = Annotated[str | None, typer.Option("--game", help="Game, if no trial is given.")]
FormatOption = Annotated[
    str | None, typer.Option("--format", help="round_robin, gauntlet, swiss, knockout or adaptive.")
]
EntrantOption = Annotated[
    list[str] | None,
    typer.Option("--entrant", help="Rule for entrants, as latest, snapshots, bot:random (repeatable)."),
]
ChallengerOption = Annotated[
    list[str] | None, typer.Option("--challenger", help="Gauntlet: rule for challengers (repeatable).")
]
GamesOption = Annotated[int | None, typer.Option("--games", help="Games per pairing, an even number.")]


def spec_from(
    file: Path | None,
    *,
    project: str | None,
    trial: str | None,
    game: str | None,
    format: str | None,
    entrants: list[str] | None,
    challengers: list[str] | None,
    games: int | None,
    **more: Any,
) -> tuple[str, dict[str, Any]]:
    """Project and spec from the file, overridden by options of the command line."""
    spec: dict[str, Any] = {}
    named = "default"
    if file is not None:
        from orchestrator.spec.reading.tournament_loading import load_tournament_file

        try:
            loaded = load_tournament_file(file)
        except InvalidTrial as error:
            for problem in error.problems:
                errors.print(str(problem), highlight=False, markup=False, soft_wrap=True)
            raise typer.Exit(ExitCode.FAILED) from None
        named = loaded.project
        spec = {name: value for name, value in loaded.spec.to_json().items() if value not in (None, [])}
    given = {
        "trial": trial,
        "game": None if game is None else {"id": game},
        "format": format,
        "entrants": entrants or None,
        "challengers": challengers or None,
        "games": games,
        **more,
    }
    spec |= {name: value for name, value in given.items() if value is not None}
    if not spec.keys() & {"trial", "game"}:
        raise typer.BadParameter("give a FILE, --trial or --game")
    return project or named, spec


@tournament.command()
def run(
    file: FileOption = None,
    project: ProjectOption = None,
    trial: TrialOption = None,
    game: GameOption = None,
    format: FormatOption = None,
    entrant: EntrantOption = None,
    challenger: ChallengerOption = None,
    games: GamesOption = None,
    rounds: Annotated[int | None, typer.Option(help="Number of rounds (swiss, adaptive).")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed of pairings and games.")] = None,
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Do not wait for the end.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a tournament, follow it and show the standings. Ctrl-C leaves it running. Exit code 0 if completed."""
    where, spec = spec_from(
        file,
        project=project,
        trial=trial,
        game=game,
        format=format,
        entrants=entrant,
        challengers=challenger,
        games=games,
        rounds=rounds,
        seed=seed,
    )
    with connected(home) as client:
        held = client.create_tournament(project=where, spec=spec)
        if not as_json:
            errors.print(f"tournament {held.id}: {held.entrants} entrants", highlight=False)
        if not detach:
            held = _follow(client, held, quiet=as_json)
        if as_json:
            print_json(held.model_dump(mode="json"))
        elif not detach:
            _show(client, held)
    if not detach and held.status != "completed":
        raise typer.Exit(ExitCode.FAILED)


@tournament.command("list")
def list_all(
    project: ProjectOption = None, limit: LimitOption = 30, home: HomeOption = None, as_json: JsonOption = False
) -> None:
    """List tournaments, newest first."""
    with connected(home) as client:
        found = list(islice(client.tournaments(project=project, page_size=min(limit, 500)), limit))
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
        return
    table = uncut_table("created", "project", "name", "format", "status", "entrants", "pairings", "id")
    for one in found:
        progress = f"{one.pairings_played}/{one.pairings_known}"
        words = (escape(one.project), escape(one.name), one.format, one.status)
        table.add_row(f"{one.created_at:%Y-%m-%d %H:%M:%S}", *words, str(one.entrants), progress, one.id)
    out.print(table)


@tournament.command()
def show(tournament: IdArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show a tournament's standings, with ratings and their intervals."""
    with connected(home) as client:
        if as_json:
            print_json(client.tournament_report(tournament).model_dump(mode="json"))
        else:
            _show(client, client.tournament(tournament))


@tournament.command()
def report(
    tournament: IdArgument,
    form: Annotated[ReportForm, typer.Option("--format", help="Format of the report.")] = "markdown",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; default: the terminal.")] = None,
    home: HomeOption = None,
) -> None:
    """Write the report: standings, cross table, upsets, most instructive games."""
    with connected(home) as client:
        text = _written(client, tournament, form)
    if output is None:
        typer.echo(text)
    else:
        output.write_text(text, encoding="utf-8")


@tournament.command()
def cancel(
    tournament: IdArgument,
    reason: Annotated[str | None, typer.Option(help="Reason, kept in the records.")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Cancel a tournament. Games already played stay and count."""
    with connected(home) as client:
        told = client.cancel_tournament(tournament, reason=reason)
    if as_json:
        print_json(told.model_dump(mode="json"))
    else:
        print_line("The tournament ends within seconds. Games already played stay.")


def _written(client: Client, tournament: str, form: ReportForm) -> str:
    if form == "json":
        return client.tournament_report(tournament).model_dump_json(indent=2)
    return client.write_report(tournament, form)


def _follow(client: Client, held: Tournament, *, quiet: bool) -> Tournament:
    """Wait for the end, with a progress bar of the pairings known so far."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, disable=quiet) as progress:
        bar = progress.add_task(held.format, total=None)
        while held.status not in FINAL:
            time.sleep(POLL_SECONDS)
            held = client.tournament(held.id)
            progress.update(bar, completed=held.pairings_played, total=held.pairings_known or None)
    return held


def _show(client: Client, held: Tournament) -> None:
    standings = client.standings(held.id)
    reason = f" ({escape(held.status_reason)})" if held.status_reason else ""
    title = f"{escape(held.name)}: {held.format} in {escape(held.game)}, {held.status}{reason}"
    table = Table("rank", "entrant", "points", "games", "+", "=", "-", "Elo", "95 % interval", title=title)
    for line in standings.items:
        counts = [str(count) for count in (line.games, line.wins, line.draws, line.losses)]
        mark = " *" if line.prior else ""
        interval = f"{line.low:+.0f} … {line.high:+.0f}"
        row = (str(line.rank), escape(line.label), f"{line.points:g}", *counts)
        table.add_row(*row, f"{line.elo:+.0f}{mark}", interval)
    out.print(table)
    print_line(escape(standings.leads))
    if any(line.prior for line in standings.items):
        print_line("* only the prior keeps this rating finite: all games won, all lost, or no games against the others")
