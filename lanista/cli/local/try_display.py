"""What `lanista try` shows while it trains: a live view on a terminal, else one line for each generation."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from lanista.cli.terminal import errors, out
from lanista.training.curves import curves_of, sparkline
from lanista.training.generation import Generation, GenerationProgress
from lanista.training.run import Run

REDRAW_SECONDS = 0.1
SHOWN_METRICS = 8
BAR_WIDTH = 40


class Lines:
    """One line for each generation, on standard error, so that standard output stays for the result."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet

    def progress(self, now: GenerationProgress) -> None:
        """Nothing: there is no terminal to draw on."""

    def pairing(self, player: str, opponent: str, games: int) -> None:
        """Nothing, likewise."""

    def generation(self, generation: Generation) -> None:
        if not self._quiet:
            errors.print(line_of(generation), highlight=False, markup=False, soft_wrap=True)

    def note(self, text: str) -> None:
        errors.print(text, highlight=False, markup=False, soft_wrap=True)


class LiveView:
    """The bar of the generation under way, its metrics, and the curve of each player."""

    def __init__(self, run: Run, live: Live) -> None:
        self._run, self._live = run, live
        self._now: GenerationProgress | None = None
        self._history: dict[str, list[float]] = {}
        self._drawn = 0.0

    @property
    def is_live(self) -> bool:
        """Whether it draws on the terminal; a breakpoint of the user ends that."""
        return self._live.is_started

    def progress(self, now: GenerationProgress) -> None:
        before = self._now
        if before is None or (before.player, before.generation) != (now.player, now.generation):
            self._history = {}
        self._now = now
        for name, value in now.metrics.items():
            self._history.setdefault(name, []).append(value)
        if time.monotonic() - self._drawn > REDRAW_SECONDS:
            self._draw()

    def generation(self, generation: Generation) -> None:
        self._draw()
        if generation.snapshot is not None:
            self.note(f"{generation.player} was frozen as {generation.snapshot}: {generation.reasons[0]}")
        if generation.copied is not None:
            self.note(f"{generation.player} copied {generation.copied}: {generation.reasons[-1]}")

    def pairing(self, player: str, opponent: str, games: int) -> None:
        """Say which rating games are under way."""
        against = "alone" if opponent == "alone" else f"against {opponent}"
        self._live.update(Group(self._curves(), Text(f"{player} plays {games:,} games {against} …")), refresh=True)

    def note(self, text: str) -> None:
        self._live.console.print(text, highlight=False, markup=False)

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        parts: list[Any] = [self._curves()]
        if self._now is not None:
            parts += [self._bar(self._now), self._metrics(self._now)]
        self._live.update(Group(*parts), refresh=True)

    def _bar(self, now: GenerationProgress) -> Table:
        row = Table.grid(padding=(0, 1))
        row.add_row(
            Text(f"{now.player}, generation {now.generation}"),
            ProgressBar(total=now.target, completed=min(now.steps, now.target), width=BAR_WIDTH),
            Text(f"{now.steps:,} of {now.target:,} steps, {now.steps_per_second:,.0f}/s"),
        )
        return row

    def _metrics(self, now: GenerationProgress) -> Table:
        table = Table.grid(padding=(0, 2))
        for name, value in list(now.metrics.items())[:SHOWN_METRICS]:
            table.add_row(Text(f"  {name}"), Text(f"{value:.4g}"), Text(sparkline(self._history.get(name, ()))))
        return table

    def _curves(self) -> Table:
        table = Table("player", "generation", "steps", escape(self._run.curve_name), "curve")
        newest = {generation.player: generation for generation in self._run.generations}
        curves = curves_of(self._run.generations)
        for name in self._run.players:
            generation, curve = newest.get(name), [value for _, value in curves.get(name, [])]
            number = "" if generation is None else str(generation.number)
            steps = "" if generation is None else f"{generation.player_steps:,}"
            table.add_row(escape(name), number, steps, f"{curve[-1]:.3f}" if curve else "", sparkline(curve))
        return table


def line_of(generation: Generation) -> str:
    """A generation in one line."""
    score = "" if generation.score is None else f"  score {generation.score:.3f}"
    rate = generation.metrics.get("steps_per_second")
    speed = "" if rate is None else f"  {rate:,.0f} steps/s"
    frozen = "" if generation.snapshot is None else f"  frozen as {generation.snapshot}"
    reset = "  reset" if generation.reset else ""
    copied = "" if generation.copied is None else f"  copied {generation.copied}"
    head = f"{generation.seconds:7.1f} s  {generation.player}  generation {generation.number}"
    return f"{head}  {generation.player_steps:,} steps{speed}{score}{frozen}{reset}{copied}"


@contextmanager
def display(run: Run, *, live: bool, lines: bool) -> Iterator[Lines | LiveView]:
    """The live view, or lines; a `breakpoint()` in user code ends the live view first."""
    if not live:
        yield Lines(quiet=not lines)
        return
    with Live(console=out, auto_refresh=False, transient=False) as view:
        hook = sys.breakpointhook

        def stop_and_break(*arguments: Any, **named: Any) -> Any:
            view.stop()
            return hook(*arguments, **named)

        sys.breakpointhook = stop_and_break
        try:
            yield LiveView(run, view)
        finally:
            sys.breakpointhook = hook
