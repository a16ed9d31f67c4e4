"""`lanista league`: payoff, ratings, and decisions with their reasons."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from api.schemas.decisions import Decision
from api.schemas.enums import RatingMethod
from api.schemas.payoff import PayoffStream
from api.schemas.players import Player
from api.schemas.ratings import Ratings
from api.schemas.trials import Trial
from lanista.cli.connection import ExitCode, TrialArgument, connected
from lanista.cli.options import HomeOption, JsonOption, LimitOption
from lanista.cli.terminal import errors, out, print_json, print_line
from lanista.client import Client
from lanista.client.calls.composed import is_id
from lanista.client.calls.league import Table as Export
from lanista.league_view.population_table import population_tables
from lanista.league_view.tables import difference_text, payoff_table, players_to_show, rating_text
from league.types import DecisionKind

league = typer.Typer(help="The league: payoff, ratings, decisions and their reasons.", no_args_is_help=True)

CsvOption = Annotated[bool, typer.Option("--csv", help="Print everything as CSV.")]
PlayerOption = Annotated[str | None, typer.Option("--player", help="Only this player, by name.")]


@league.command()
def payoff(
    trial: TrialArgument,
    stream: Annotated[PayoffStream, typer.Option("--stream", help="Which games to count.")] = "all",
    limit: LimitOption = 12,
    home: HomeOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Show the payoff matrix: win rate of the row against the column, and the number of games."""
    _check_one_form(as_json, as_csv)
    with connected(home) as client:
        found = client.find_trial(trial)
        if as_csv:
            _print_csv(client, found, "payoff", stream=stream)
        elif as_json:
            print_json(client.payoff(found, stream=stream).model_dump(mode="json"))
        else:
            snapshot = client.league(found)
            shown = players_to_show(snapshot, limit)
            out.print(payoff_table(client.payoff(found, stream=stream), [player.id for player in shown]))
            _print_rest(len(snapshot.players) - len(shown))


@league.command()
def ratings(
    trial: TrialArgument,
    method: Annotated[RatingMethod, typer.Option("--method", help="Rating method.")] = RatingMethod.BRADLEY_TERRY,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="VERSION",
            help="Show differences to this version: player:number of the trial, project/trial/player:number, "
            "project@alias (or project@alias:game), or its id.",
        ),
    ] = None,
    limit: LimitOption = 30,
    home: HomeOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Show the ratings of the newest fit to the rating games, best first."""
    _check_one_form(as_json, as_csv)
    with connected(home) as client:
        found = client.find_trial(trial)
        other = _version_id(client, found, against)
        if as_csv:
            _print_csv(client, found, "ratings", method=method, against=other)
            return
        answer = client.ratings(found, method=method, against=other, limit=limit)
    if as_json:
        print_json(answer.model_dump(mode="json"))
    elif answer.fit is None:
        print_line("No rating games yet. Evaluations and tournaments play them.")
    else:
        _show_ratings(answer, against)


def _version_id(client: Client, trial: Trial, reference: str | None) -> str | None:
    if reference is None:
        return None
    of_trial = not is_id(reference) and not {"/", "@"} & set(reference)
    return client.find_version(f"{trial.label}/{reference}" if of_trial else reference).id


def _show_ratings(answer: Ratings, against: str | None) -> None:
    assert answer.fit is not None
    columns = ["rank", "player", "version", "rating", "games"]
    if against is not None:
        columns.insert(4, f"against {escape(against)}")
    table = Table(*columns, title=f"{answer.fit.method}, {answer.fit.games:,} games")
    for rating in answer.items:
        words = [str(rating.rank), escape(rating.player), str(rating.number), rating_text(rating), f"{rating.games:,}"]
        if against is not None:
            words.insert(4, difference_text(rating))
        table.add_row(*words)
    out.print(table)
    anchor = next((one for one in answer.items if one.version_id == answer.fit.anchor_version_id), None)
    if anchor is not None:
        print_line(f"[dim]Zero is {escape(anchor.player)}.[/]")
    if answer.fit.depends_on_order:
        print_line("[dim]This method depends on the order of games.[/]")
    if any(rating.prior for rating in answer.items):
        print_line("[dim](prior): won or lost every game; only a weak prior keeps the rating finite.[/]")


@league.command()
def decisions(
    trial: TrialArgument,
    kind: Annotated[list[DecisionKind] | None, typer.Option("--kind", help="Only of this kind (repeatable).")] = None,
    player: PlayerOption = None,
    generation: Annotated[int | None, typer.Option("--generation", min=0, help="Only this generation.")] = None,
    limit: LimitOption = 20,
    home: HomeOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """List the league's decisions with their reasons, newest first."""
    _check_one_form(as_json, as_csv)
    with connected(home) as client:
        found = client.find_trial(trial)
        player_id = None if player is None else client.find_player(found, player).id
        if as_csv:
            _print_csv(client, found, "decisions", kind=kind, player_id=player_id, generation=generation)
            return
        listing = client.decisions(
            found, kind=kind or (), player_id=player_id, generation=generation, page_size=min(limit, 500)
        )
        answer = list(islice(listing, limit))
    if as_json:
        print_json([decision.model_dump(mode="json") for decision in answer])
        return
    table = Table("when", "kind", "player", "generation", "verdict", "reason")
    for one in answer:
        when = one.created_at.astimezone().strftime("%m-%d %H:%M:%S")
        generation_text = "" if one.generation is None else str(one.generation)
        words = (one.kind.value, escape(one.player or ""), generation_text, escape(one.verdict), escape(one.reason))
        table.add_row(when, *words)
    out.print(table)


@league.command()
def explain(
    trial: TrialArgument,
    player: Annotated[str, typer.Argument(metavar="PLAYER", help="The player, by name.", show_default=False)],
    generation: Annotated[
        int | None, typer.Option("--generation", min=1, help="The generation; default: the newest.")
    ] = None,
    limit: LimitOption = 12,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Explain a generation: why these opponents, and what was decided after it."""
    with connected(home) as client:
        found = client.find_trial(trial)
        learner = client.find_player(found, player)
        chosen = _decisions_of(client, found, learner, generation)
        before = [] if generation is not None or as_json else _judged_before(client, found, learner, chosen)
        names = {member.id: member.name for member in client.players(found, page_size=500)}
    if not chosen:
        about = "it has none yet" if generation is None else f"its newest is {learner.generation}"
        errors.print(f"Nothing was decided for that generation of {escape(player)}: {about}.")
        raise typer.Exit(ExitCode.NOT_FOUND)
    if as_json:
        print_json([decision.model_dump(mode="json") for decision in chosen])
        return
    print_line(f"[bold]{escape(learner.name)}[/], generation {chosen[0].generation}")
    for decision in chosen:
        print_line(f"\n[bold]{decision.kind}[/] → {escape(decision.verdict)}: {escape(decision.reason)}")
        if decision.kind is DecisionKind.MATCHMAKING:
            _show_opponents(decision, names, limit)
        elif decision.kind is DecisionKind.POPULATION:
            out.print(population_tables(decision.evidence))
    if before:
        print_line(f"\nThis generation is not judged yet. After generation {before[0].generation}:")
    for decision in before:
        print_line(f"\n[bold]{decision.kind}[/] → {escape(decision.verdict)}: {escape(decision.reason)}")
        if decision.kind is DecisionKind.POPULATION:
            out.print(population_tables(decision.evidence))


def _decisions_of(client: Client, trial: Trial, player: Player, generation: int | None) -> list[Decision]:
    """All decisions about one generation, oldest first: the match plan, then the judgements."""
    if generation is None:
        plans = client.decisions(trial, kind=[DecisionKind.MATCHMAKING], player_id=player.id, page_size=1)
        newest = next(plans, None)
        if newest is None:
            return []
        generation = newest.generation
    return list(client.decisions(trial, player_id=player.id, generation=generation))[::-1]


def _judged_before(client: Client, trial: Trial, player: Player, chosen: Sequence[Decision]) -> list[Decision]:
    """The judgements of the generation before, where that of these decisions is still under way."""
    newest = chosen[0].generation if chosen else None
    if not newest or newest < 2 or any(decision.kind is not DecisionKind.MATCHMAKING for decision in chosen):
        return []
    before = list(client.decisions(trial, player_id=player.id, generation=newest - 1))[::-1]
    return [decision for decision in before if decision.kind is not DecisionKind.MATCHMAKING]


def _show_opponents(decision: Decision, names: dict[str, str], limit: int) -> None:
    opponents = decision.evidence.get("plan", {}).get("opponents", [])
    likeliest = sorted(opponents, key=lambda opponent: -opponent["probability"])
    table = Table("opponent", "probability", "rule", "known win rate", box=None)
    for opponent in likeliest[:limit]:
        rate = opponent.get("win_rate")
        name = names.get(opponent["player"], opponent["player"])
        known = "" if rate is None else f"{rate:.2f}"
        table.add_row(escape(name), f"{opponent['probability']:.1%}", escape(opponent["branch"]), known)
    out.print(table)
    _print_rest(len(likeliest) - limit)


def _print_rest(left: int) -> None:
    if left > 0:
        print_line(f"[dim]and {left} more; --limit shows them[/]")


def _check_one_form(as_json: bool, as_csv: bool) -> None:
    if as_json and as_csv:
        raise typer.BadParameter("--json and --csv cannot be combined")


def _print_csv(client: Client, trial: Trial, table: Export, **filters: Any) -> None:
    out.file.write(client.export(trial, table, filters))
