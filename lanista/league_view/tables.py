"""Leagues as rich tables of players, payoff and events. Pure functions from a league to renderables."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from lanista.client import League
from lanista.league_view.event_text import event_line
from orchestrator.user_code.code_archives import plain_name

if TYPE_CHECKING:
    from api.schemas.events import GenerationProgress
    from api.schemas.payoff import Payoff
    from api.schemas.players import Player
    from api.schemas.progress import TrainingSpeed
    from api.schemas.ratings import Rating
    from api.schemas.trials import TrialSummary
    from lanista.league_view.live import LiveLeague

STATUS_COLOURS = {
    "pending": "yellow",
    "running": "green",
    "pausing": "yellow",
    "paused": "yellow",
    "stopping": "yellow",
    "stopped": "blue",
    "completed": "blue",
    "failed": "red",
    "waiting": "yellow",
    "passed": "green",
    "exhausted": "blue",
    "invalid": "red",
    "superseded": "dim",
    "active": "green",
    "retired": "dim",
}
CELL_WIDTH = 9
NAME_WIDTH = 18
FIXED_LINES = 20
"""Lines of the live view besides players and payoff."""


def status_text(status: str) -> str:
    return f"[{STATUS_COLOURS.get(status, 'default')}]{status}[/]"


def league_view(live: LiveLeague, *, width: int = 120, height: int = 40) -> RenderableType:
    """The whole league, fitted to the terminal's size."""
    league = live.league
    rows = max(4, (height - FIXED_LINES) // 2)
    shown = players_to_show(league, rows)
    columns = max(2, (width - NAME_WIDTH - 4) // (CELL_WIDTH + 3))
    parts: list[RenderableType] = [
        headline(league.trial, live.speed if live.steps_per_second is not None else None),
        players_table(league, shown, live.progress),
        payoff_table(league.payoff, [player.id for player in shown][:columns]),
    ]
    if live.told:
        sentences = Text("\n").join(Text(f"{sentence}.", style="bold") for sentence in live.told)
        parts.append(Panel(sentences, title="what happens", title_align="left", border_style="dim"))
    if live.events:
        lines = Text("\n").join(event_line(event) for event in live.events)
        parts.append(Panel(lines, title="last events", title_align="left", border_style="dim"))
    return Group(*parts)


def players_to_show(league: League, most: int) -> list[Player]:
    """The players to show if not all fit: learners, players with an alias, bots, then the newest."""
    newest_first = sorted(league.players, key=lambda player: player.created_commit, reverse=True)
    return sorted(newest_first, key=lambda player: _rank(league, player))[:most]


def _rank(league: League, player: Player) -> int:
    if player.status == "retired":
        return 4
    if player.role.learns:
        return 0
    if league.aliases_of(player):
        return 1
    return 2 if player.bot else 3


def headline(trial: TrialSummary, speed: TrainingSpeed | None = None) -> RenderableType:
    """The trial's name, status and progress in one line."""
    line = Text.assemble((trial.label, "bold"), f" · {trial.game} · ")
    line.append(trial.status, STATUS_COLOURS.get(trial.status, ""))
    reason, _, trace = (trial.status_reason or "").partition("\n")
    if reason:
        line.append(f" ({reason})")
    line.append(f" · {trial.steps:,} steps · commit {trial.last_commit}")
    if trial.started_at is not None:
        line.append(f" · {duration((trial.finished_at or datetime.now(UTC)) - trial.started_at)}")
    if speed is not None:
        line.append(f" · {speed.steps_per_second:,.0f} steps/s", "bold green")
    if ends := end_text(trial, speed):
        line.append(f" · {ends}")
    below = [Text(trace, "dim")] if trace else []
    budget = trial.budget_steps
    if not budget:
        limit = trial.budget_seconds
        return Group(line, *([] if limit is None else [_time_bar(trial, limit)]), *below)
    bar = Table.grid()  # a progress bar alone does not end its line
    bar.add_row(ProgressBar(total=budget, completed=min(trial.steps, budget), width=60), f" of {budget:,} steps")
    return Group(line, bar, *below)


def _time_bar(trial: TrialSummary, limit: float) -> RenderableType:
    used = min(trial.seconds_used(datetime.now(UTC)), limit)
    bar = Table.grid()
    bar.add_row(ProgressBar(total=limit, completed=used, width=60), f" of {_seconds(limit)} running")
    return bar


def end_text(trial: TrialSummary, speed: TrainingSpeed | None = None) -> str:
    """When a running trial ends: at its time limit or its budget of steps, the earlier one; empty if unknown."""
    if trial.status != "running":
        return ""
    now = datetime.now(UTC)
    limits = []
    if trial.time_limit_at is not None and trial.budget_seconds is not None:
        limits.append(
            (max(0.0, (trial.time_limit_at - now).total_seconds()), f"time limit {_seconds(trial.budget_seconds)}")
        )
    if speed is not None and speed.seconds_left is not None:
        limits.append((speed.seconds_left, "budget of steps"))
    target = trial.budget_until
    reached = "" if target is None else f"at {100 * target.win_rate:g} % against {target.opponent}"
    if not limits:
        return f"ends {reached}" if reached else ""
    left, why = min(limits)
    at = (now + timedelta(seconds=left)).astimezone().strftime("%H:%M")
    return f"about {_seconds(left)} left, until {at} ({why})" + (f", or {reached}" if reached else "")


def _seconds(value: float) -> str:
    return duration(timedelta(seconds=round(value)))


def duration(elapsed: object) -> str:
    return str(elapsed).split(".")[0]


def players_table(
    league: League, shown: Sequence[Player], progress: dict[str, GenerationProgress] | None = None
) -> Table:
    """One row for each player shown."""
    by_returns = bool(league.returns) and not league.has_opponents and not league.ratings.items
    measure = "mean return" if by_returns else "rating"
    table = Table("player", "role", "version", "generation", "under way", "steps", measure, "aliases", box=None)
    for player in shown:
        under_way = (progress or {}).get(player.id)
        learns = player.role.learns
        table.add_row(
            escape(player.name),
            _role(player),
            "" if player.version_number is None else str(player.version_number),
            str(player.generation) if learns else "",
            _under_way(under_way),
            f"{player.steps:,}" if learns else "",
            return_text(league.returns.get(player.id)) if by_returns else rating_text(league.rating_of(player)),
            "[bold yellow]" + escape(", ".join(league.aliases_of(player))) + "[/]",
            style="dim" if player.status == "retired" else "",
        )
    if left := len(league.players) - len(shown):
        table.caption = f"and {left} more"
        table.caption_justify = "left"
    return table


def _role(player: Player) -> str:
    if player.status == "retired":
        return f"{player.role} (retired)"
    return f"bot {escape(plain_name(player.bot))}" if player.bot else player.role.value


def _under_way(progress: GenerationProgress | None) -> RenderableType:
    if progress is None:
        return ""
    if progress.waiting:
        return f"[yellow]waits for {escape(progress.waiting)}[/]"
    if not progress.target or progress.steps is None:
        return f"[dim]generation {progress.generation} is starting[/]"
    bar = ProgressBar(total=progress.target, completed=min(progress.steps, progress.target), width=16)
    words = f" {progress.steps / progress.target:4.0%}  {progress.steps_per_second or 0:,.0f}/s"
    line = Table.grid()
    line.add_row(bar, words)
    return line


def return_text(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def rating_text(rating: Rating | None) -> str:
    if rating is None:
        return ""
    interval = "" if rating.deviation is None else f" ±{1.96 * rating.deviation:.0f}"
    return f"{rating.value:+.0f}{interval}{' (prior)' if rating.prior else ''}"


def difference_text(rating: Rating) -> str:
    """The difference to the version asked for, with half of the 95 % interval."""
    if rating.difference is None:
        return ""
    high = rating.difference_high
    return f"{rating.difference:+.0f}" + ("" if high is None else f" ±{high - rating.difference:.0f}")


def payoff_table(payoff: Payoff, player_ids: Sequence[str]) -> Table:
    """Win rates of rows against columns with the number of games, for these players in this order."""
    position = {player.id: number for number, player in enumerate(payoff.players)}
    shown = [position[player_id] for player_id in player_ids if player_id in position]
    table = Table("win rate of ↓ against →", title_justify="left", box=None)
    for column in shown:
        table.add_column(escape(_short(payoff.players[column].name)), justify="right", min_width=CELL_WIDTH)
    for row in shown:
        cells = [_cell(payoff, row, column) for column in shown]
        table.add_row(escape(_short(payoff.players[row].name)), *cells)
    return table


def _short(name: str) -> str:
    return name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 1]}…"


def _cell(payoff: Payoff, row: int, column: int) -> str:
    rate, games = payoff.win_rate[row][column], payoff.games(row, column)
    if rate is None or not games:
        return "[dim]·[/]"
    colour = "green" if rate > 0.55 else "red" if rate < 0.45 else "default"
    return f"[{colour}]{rate:.2f}[/] [dim]{_brief(games)}[/]"


def _brief(number: int) -> str:
    """At most four characters: 950, 12k, 3.4M."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            short = number / size
            return f"{short:.0f}{unit}" if short >= 10 else f"{short:.1f}{unit}"
    return str(number)
