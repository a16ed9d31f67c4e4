"""The live view shows what is known, and follows a trial to its end."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import httpx
import pytest
from rich.console import Console

from api.schemas.events import Event, GenerationProgress, read_event
from api.schemas.progress import TrainingSpeed
from lanista.client import AsyncClient
from lanista.client.errors import NotSignedIn
from lanista.league_view import live as live_view
from lanista.league_view.event_text import event_line
from lanista.league_view.live import LiveLeague, follow
from lanista.league_view.tables import league_view, players_table, players_to_show
from tests.unit.client.fake_api import (
    EVENT_STREAM,
    NO_WAITING,
    URL,
    WHEN,
    Caller,
    FakeApi,
    Stream,
    a_league,
    an_id,
    problem,
)


def live() -> LiveLeague:
    return LiveLeague(Caller("blocking").call(FakeApi(a_league()), lambda client: client.league(an_id(1))))


def event(kind: str, number: int = 1, at: str = WHEN, **payload: Any) -> Event:
    read = read_event(kind, payload)
    told = {"text": read.text, "level": read.level, "transient": read.transient}
    return Event(type=kind, id=number, trial_id=an_id(1), created_at=at, payload=payload, **told)


def drawn(renderable: Any, width: int = 140) -> str:
    console = Console(width=width, height=50, force_terminal=False)
    with console.capture() as captured:
        console.print(renderable)
    return captured.get()


def under_way(**details: Any) -> GenerationProgress:
    return GenerationProgress(player_id=an_id(2), player="main", generation=3, **details)


def speed(value: float) -> TrainingSpeed:
    return TrainingSpeed(steps_per_second=value, measured_seconds=300, steps_under_way=50, seconds_left=125)


def test_everything_is_on_the_screen() -> None:
    view = live()
    view.take(event("generation.recorded", player_id=an_id(2), player="main", generation=2, steps=1000, games=70))
    going = under_way(steps=50, target=200, steps_per_second=1234.0)
    view.take(Event(type="progress", generations=[going], speed=speed(1_200)))
    text = drawn(league_view(view))
    for words in (
        "games/trial-1 · tic_tac_toe · running · 1,000 steps · commit 3",
        "1,200 steps/s",
        "of 4,000 steps",
        " 25%  1,234/s",
        "+120 ±20",
        "champion",
        "bot random",
        "0.70 5",
        "0.30 5",
        "main finished generation 2: 1,000 steps, 70 games",
    ):
        assert words in text, f"{words!r} in {text}"


def test_names_with_markup_do_no_harm() -> None:
    view = live()
    view.take(event("alias.moved", alias="champion", reason="[/red] [bold]"))
    assert "[/red] [bold]" in drawn(league_view(view))


def test_a_large_league_is_shown_by_its_foremost() -> None:
    league = live().league
    assert [player.name for player in players_to_show(league, 2)] == ["main", "main-1"], "learners, then aliases"
    assert "and 1 more" in drawn(players_table(league, players_to_show(league, 2)))


def test_the_speed_is_the_servers_and_not_the_sum_of_the_players() -> None:
    view = live()
    assert view.steps_per_second is None
    view.take(Event(type="progress", generations=[under_way(steps_per_second=50_000.0)], speed=speed(14_300)))
    assert view.steps_per_second == 14_300
    assert "14,300 steps/s · about 0:02:05 left" in drawn(league_view(view))
    view.league = replace(view.league, trial=view.league.trial.model_copy(update={"status": "paused"}))
    assert view.steps_per_second is None


def test_a_recorded_generation_is_no_longer_under_way() -> None:
    view = live()
    view.take(Event(type="progress", generations=[under_way()]))
    assert "generation 3 is starting" in drawn(league_view(view))
    view.take(event("generation.recorded", player_id=an_id(2), steps=1))
    assert view.progress == {}


def test_a_gate_under_way_takes_one_line() -> None:
    view = live()
    for number in range(1, 4):
        view.take(event("gate.progress", number, alias="champion", pairs=32 * number, llr=0.5))
        view.take(event("player.snapshot", number, player="main", snapshot=f"main-{number}"))
    assert [shown.type for shown in view.events] == [
        "player.snapshot",
        "player.snapshot",
        "gate.progress",
        "player.snapshot",
    ]
    assert view.events[2].payload["pairs"] == 96


def test_a_tournament_takes_one_line_and_its_trouble_stays() -> None:
    view = live()
    for kind in ("tournament.created", "tournament.started", "pairing.played", "tournament.withdrawn"):
        view.take(event(kind, tournament_id=an_id(7), name="nightly"))
    view.take(event("tournament.created", tournament_id=an_id(8), name="another"))
    view.take(event("tournament.finished", tournament_id=an_id(7), name="nightly", status="completed"))
    assert [shown.type for shown in view.events] == [
        "tournament.withdrawn",
        "tournament.created",
        "tournament.finished",
    ]


def test_a_line_is_the_events_sentence_or_its_kind() -> None:
    said = event_line(event("player.snapshot", player="main", snapshot="main-1")).plain
    assert said.endswith("  main was frozen as main-1")
    assert event_line(Event(type="player.danced")).plain == f"{' ' * 10}player.danced"


def frame(number: int, kind: str) -> bytes:
    data = {"id": number, "type": kind, "trial_id": an_id(1), "created_at": WHEN, "payload": {}}
    return f"id: {number}\ndata: {json.dumps(data)}\n\n".encode()


class LeagueWithEvents:
    """Answers as a league that completes once its events have been read."""

    def __init__(self, events: httpx.Response) -> None:
        self._events = events
        self._loads = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/events"):
            return self._events
        self._loads += request.url.path.endswith(an_id(1))
        return a_league(status="completed" if self._loads > 1 else "running")(request)


def followed(events: httpx.Response) -> tuple[LiveLeague, list[str]]:
    shown: list[str] = []

    async def run() -> LiveLeague:
        api = FakeApi(LeagueWithEvents(events))
        async with AsyncClient(URL, "secret", retries=NO_WAITING, transport=api) as client:
            return await follow(client, an_id(1), lambda live, event: shown.append(event.type if event else ""))

    return asyncio.run(run()), shown


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TICK_SECONDS", "RELOAD_SECONDS", "IDLE_RELOAD_SECONDS"):
        monkeypatch.setattr(live_view, name, 0.01)


def test_a_trial_is_followed_to_its_end() -> None:
    events = httpx.Response(
        200, headers=EVENT_STREAM, stream=Stream(frame(1, "generation.recorded"), frame(2, "trial.status"))
    )
    last, shown = followed(events)
    assert last.league.trial.status == "completed"
    assert [kind for kind in shown if kind] == ["generation.recorded", "trial.status"]


def test_an_end_that_no_event_told_is_seen_all_the_same() -> None:
    last, _ = followed(httpx.Response(200, headers=EVENT_STREAM, stream=Stream(b": still here\n\n")))
    assert last.league.trial.status == "completed"


def test_a_stream_that_is_refused_ends_the_watch() -> None:
    with pytest.raises(NotSignedIn, match="revoked"):
        followed(problem(401, "revoked"))


def test_should_stop_ends_the_live_view() -> None:
    async def run() -> LiveLeague:
        transport = FakeApi(LeagueWithEvents(httpx.Response(200, headers=EVENT_STREAM, stream=Stream())))
        async with AsyncClient(URL, "secret", retries=NO_WAITING, transport=transport) as client:
            return await follow(client, an_id(1), lambda live, event: None, should_stop=lambda live: True)

    assert asyncio.run(run()).league.trial.status == "running"


def test_what_happens_is_told_in_words() -> None:
    shown = live()
    shown.look()
    names = [player.name for player in shown.league.payoff.players]
    main, bot = names.index("main"), names.index("random")
    wins = [list(row) for row in shown.league.payoff.wins]
    wins[main][bot] += 100
    changed = shown.league.payoff.model_copy(update={"wins": wins, "revision": shown.league.payoff.revision + 1})
    shown.league = replace(shown.league, payoff=changed)
    shown.look()
    assert list(shown.told) == shown.untold == ["main beats random: it wins 100%"]
    assert "main beats random: it wins 100%." in drawn(league_view(shown))
    shown.look()
    assert len(shown.told) == 1, "the same payoff says nothing new"
