"""Live view of a league in the terminal: its state, and a loop that follows its events to the end.

See docs/decisions/page-and-live-views.md.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live

from api.schemas.events import Event, GenerationProgress
from api.schemas.progress import TrainingSpeed
from lanista.client import AsyncClient, League, Retries
from lanista.client.local import ApiAddress
from lanista.league_view.event_text import event_line
from lanista.league_view.story import look_at
from lanista.league_view.tables import league_view
from league.commentary import Story, comment

MOST_EVENTS = 6
MOST_SENTENCES = 4
TICK_SECONDS = 0.5
RELOAD_SECONDS = 1.0
IDLE_RELOAD_SECONDS = 5.0
SHARE_OF_LOADING = 0.1
"""Share of time spent on loading: a league that loads slowly is reloaded less often."""
PATIENT = Retries(attempts=12)
"""Waits about two minutes for a stack that restarts."""


@dataclass
class LiveLeague:
    """A league, and its events since it was loaded."""

    league: League
    progress: dict[str, GenerationProgress] = field(default_factory=dict)
    """Generations under way, by player id."""
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=MOST_EVENTS))
    speed: TrainingSpeed | None = None
    """How fast the trial trains, as the last progress event said."""
    told: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_SENTENCES))
    """What happened last, in words."""
    untold: list[str] = field(default_factory=list)
    """The same, since somebody took them."""
    _story: Story = field(default_factory=Story)
    _revision: int = -1

    def look(self) -> None:
        """Compare the league as it was loaded with how it was before, and put what is new into words."""
        if self.league.payoff.revision == self._revision:
            return
        self._revision = self.league.payoff.revision
        self._story, sentences = comment(self._story, look_at(self.league))
        self.told.extend(sentences)
        self.untold += sentences

    def take(self, event: Event) -> None:
        """Update the state from an event."""
        if event.type == "progress":
            self.progress = {generation.player_id: generation for generation in event.generations}
            self.speed = event.speed
            return
        for older in [kept for kept in self.events if _replaces(event, kept)]:
            self.events.remove(older)
        self.events.append(event)
        if event.type == "generation.recorded":
            self.progress.pop(str(event.payload.get("player_id")), None)

    @property
    def steps_per_second(self) -> float | None:
        """Steps per second over all players, as the server measures it; None where the trial does not run."""
        if self.speed is None or self.league.trial.status not in ("running", "pausing", "stopping"):
            return None
        return self.speed.steps_per_second


def _replaces(event: Event, older: Event) -> bool:
    """Whether the older event can go: the same transient kind, or an ordinary one of the same tournament."""
    if event.transient and older.type == event.type:
        return True
    tournament = event.payload.get("tournament_id")
    return tournament is not None and older.payload.get("tournament_id") == tournament and older.level == "plain"


Show = Callable[[LiveLeague, Event | None], None]
ShouldStop = Callable[[LiveLeague], bool]


def watch_trial(
    trial_id: str,
    console: Console,
    *,
    where: ApiAddress | None = None,
    should_stop: ShouldStop = lambda live: False,
    on_event: Callable[[Event], None] | None = None,
) -> LiveLeague | None:
    """Show a trial until it ends, `should_stop` returns true, or Ctrl-C is pressed; returns the last state.

    On a terminal this is a live view; elsewhere it is one line for each event, or a call of `on_event`.
    """
    seen: list[LiveLeague] = []

    async def run(show: Show) -> None:
        async with AsyncClient(where, retries=PATIENT) as client:
            await follow(client, trial_id, show, should_stop)

    def say(live: LiveLeague, event: Event | None) -> None:
        seen[:] = [live]
        if event is not None and on_event is not None:
            on_event(event)
        elif event is not None and event.id is not None:
            console.print(event_line(event), highlight=False, soft_wrap=True)
        if on_event is None:
            _say_untold(live, console)

    with suppress(KeyboardInterrupt):
        if on_event is not None or not console.is_terminal:
            asyncio.run(run(say))
            return seen[-1]
        with Live(console=console, refresh_per_second=4) as screen:

            def draw(live: LiveLeague, event: Event | None) -> None:
                seen[:] = [live]
                screen.update(league_view(live, width=console.width, height=console.height))

            asyncio.run(run(draw))
    return seen[-1] if seen else None


def _say_untold(live: LiveLeague, console: Console) -> None:
    for sentence in live.untold:
        console.print(f"          {sentence}.", style="bold", markup=False, highlight=False, soft_wrap=True)
    live.untold.clear()


async def follow(
    client: AsyncClient, trial_id: str, show: Show, should_stop: ShouldStop = lambda live: False
) -> LiveLeague:
    """Keep a LiveLeague up to date and show it at every event and tick, until the trial ends or `should_stop`."""
    arrived: asyncio.Queue[Event] = asyncio.Queue()

    async def listen() -> None:
        async for event in client.events(trial_id):
            arrived.put_nowait(event)

    listening = asyncio.create_task(listen())
    try:
        loader = _Loader(client, trial_id)
        live = LiveLeague(await loader.load())
        live.look()
        show(live, None)
        while not (live.league.trial.is_over or should_stop(live)):
            event = await _next(arrived, listening)
            if event is not None:
                live.take(event)
                loader.stale |= event.id is not None
            if loader.due:
                live.league = await loader.load()
                live.look()
            show(live, event)
        while not arrived.empty():  # events that arrived before the end
            event = arrived.get_nowait()
            live.take(event)
            show(live, event)
        return live
    finally:
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening


class _Loader:
    """Reloads the league when it has changed, with a limit on how often."""

    def __init__(self, client: AsyncClient, trial_id: str) -> None:
        self._client = client
        self._trial_id = trial_id
        self._loaded_at = 0.0
        self._took = 0.0
        self.stale = True

    @property
    def due(self) -> bool:
        shortest = RELOAD_SECONDS if self.stale else IDLE_RELOAD_SECONDS
        return time.monotonic() - self._loaded_at >= max(shortest, self._took / SHARE_OF_LOADING)

    async def load(self) -> League:
        started = time.monotonic()
        self.stale = False
        league = await self._client.league(self._trial_id)
        self._loaded_at = time.monotonic()
        self._took = self._loaded_at - started
        return league


async def _next(arrived: asyncio.Queue[Event], listening: asyncio.Task[None]) -> Event | None:
    """The next event, or None after a tick without one; raises the error that ended the stream."""
    if listening.done():
        listening.result()
    try:
        return await asyncio.wait_for(arrived.get(), TICK_SECONDS)
    except TimeoutError:
        return None
