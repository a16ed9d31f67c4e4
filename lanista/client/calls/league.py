"""Calls about the league: payoff, ratings, decisions, metrics, matches, gates, and CSV files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from api.schemas.enums import RatingMethod
from lanista.client.calls.call import (
    LARGEST_PAGE,
    Call,
    Listing,
    Steps,
    TrialRef,
    change,
    drop_none,
    get,
    path_to,
    trial_path,
)
from league.types import DecisionKind, Stream

if TYPE_CHECKING:
    from api.schemas.compare import Comparison
    from api.schemas.decisions import Decision
    from api.schemas.gates import Gate, GateSummary
    from api.schemas.matches import Match, MatchSummary
    from api.schemas.metrics import MetricNames, Series
    from api.schemas.payoff import LineupResults, Payoff, PayoffStream
    from api.schemas.ratings import Ratings
    from api.schemas.search import SearchResults

Table = Literal["payoff", "ratings", "matches", "decisions"]


def payoff(trial: TrialRef, *, stream: PayoffStream = "all") -> Call[Payoff]:
    """The payoff matrices; `all` is what matchmaking reads."""
    from api.schemas.payoff import Payoff

    return get(trial_path(trial, "payoff"), Payoff, {"stream": stream})


def lineups(trial: TrialRef, *, page_size: int = 100) -> Listing[LineupResults]:
    """Training results of teams that a learner shared with a mate, the most played first."""
    from api.schemas.payoff import LineupResults

    return Listing(path=trial_path(trial, "payoff", "lineups"), item=LineupResults, query={}, page_size=page_size)


def ratings(
    trial: TrialRef,
    *,
    method: RatingMethod | str = RatingMethod.BRADLEY_TERRY,
    against: str | None = None,
    limit: int | None = None,
    most: int | None = None,
) -> Steps[Ratings]:
    """The newest fit over rating games, the best first; all of it, or the best `limit`.

    With `against`, the id of a version of the fit, each has its difference to that version and the 95 % interval.
    `most` is the earlier name of `limit`.
    """
    from api.schemas.ratings import Ratings

    limit = most if limit is None else limit
    found: Ratings | None = None
    cursor: str | None = None
    while True:
        wanted = LARGEST_PAGE if limit is None else min(LARGEST_PAGE, limit - (len(found.items) if found else 0))
        page: Ratings = yield get(
            trial_path(trial, "ratings"),
            Ratings,
            {"method": method, "against": against, "limit": wanted, "cursor": cursor},
        )
        items = page.items if found is None else [*found.items, *page.items]
        found = Ratings(fit=page.fit, items=items, next_cursor=page.next_cursor)
        cursor = page.next_cursor
        if cursor is None or (limit is not None and len(items) >= limit):
            return found


def decisions(
    trial: TrialRef,
    *,
    kind: Sequence[DecisionKind] = (),
    player_id: str | None = None,
    generation: int | None = None,
    page_size: int = 100,
) -> Listing[Decision]:
    """Decisions with their reasons, the newest first."""
    from api.schemas.decisions import Decision

    query = drop_none({"kind": list(kind) or None, "player_id": player_id, "generation": generation})
    return Listing(path=trial_path(trial, "decisions"), item=Decision, query=query, page_size=page_size)


def metrics(
    trial: TrialRef,
    *,
    player_id: str | None = None,
    name: Sequence[str] = (),
    after_generation: int | None = None,
    points: int | None = None,
    spread: bool | None = None,
    times: bool | None = None,
    page_size: int = 100,
) -> Listing[Series]:
    """Metrics of generations, one series for each player and metric; `times` adds when each was recorded.

    A series has its newest `points`, with `spread` points of the whole run.
    """
    from api.schemas.metrics import Series

    query = drop_none(
        {
            "player_id": player_id,
            "name": list(name) or None,
            "after_generation": after_generation,
            "points": points,
            "spread": spread,
            "times": times,
        }
    )
    return Listing(path=trial_path(trial, "metrics"), item=Series, query=query, page_size=page_size)


def metric_names(trial: TrialRef) -> Call[MetricNames]:
    """The names of all metrics of a trial."""
    from api.schemas.metrics import MetricNames

    return get(trial_path(trial, "metrics", "names"), MetricNames)


def matches(
    trial: TrialRef,
    *,
    stream: Stream | None = None,
    player_id: str | None = None,
    opponent_id: str | None = None,
    version_id: str | None = None,
    gate_id: str | None = None,
    tournament_id: str | None = None,
    page_size: int = 100,
) -> Listing[MatchSummary]:
    """Gating and rating games, the newest first."""
    from api.schemas.matches import MatchSummary

    query = drop_none(
        {
            "stream": stream,
            "player_id": player_id,
            "opponent_id": opponent_id,
            "version_id": version_id,
            "gate_id": gate_id,
            "tournament_id": tournament_id,
        }
    )
    return Listing(path=trial_path(trial, "matches"), item=MatchSummary, query=query, page_size=page_size)


def match(match_id: int) -> Call[Match]:
    """One game with its moves."""
    from api.schemas.matches import Match

    return get(path_to("matches", str(match_id)), Match)


def export(trial: TrialRef, table: Table, filters: Mapping[str, Any] | None = None) -> Call[str]:
    """A whole table as CSV; `filters` are those of the list itself: stream, method, kind, player_id, ..."""
    query = drop_none({**(filters or {}), "format": "csv"})
    return Call(method="GET", path=trial_path(trial, table), query=query, read=lambda response: response.text)


def gates(trial: TrialRef, *, status: Sequence[str] = (), page_size: int = 100) -> Listing[GateSummary]:
    """Gates of the trial's candidates, the newest first."""
    from api.schemas.gates import GateSummary

    query = drop_none({"status": list(status) or None})
    return Listing(path=trial_path(trial, "gates"), item=GateSummary, query=query, page_size=page_size)


def gate(gate_id: str) -> Call[Gate]:
    """One gate and the path of its test."""
    from api.schemas.gates import Gate

    return get(path_to("gates", gate_id), Gate)


def stop_gate(gate_id: str, *, reason: str | None = None) -> Call[Gate]:
    """End a gate without a verdict: it becomes `invalid`, never `passed`."""
    from api.schemas.gates import Gate

    return change("POST", path_to("gates", gate_id, "stop"), Gate, {"reason": reason})


def search(q: str, *, limit: int | None = None) -> Call[SearchResults]:
    """Trials, players, versions, tournaments and sweeps by words of their names, or by id."""
    from api.schemas.search import SearchResults

    return get(path_to("search"), SearchResults, {"q": q, "limit": limit})


def compare(trial: Sequence[str], *, metric: Sequence[str] = (), points: int | None = None) -> Call[Comparison]:
    """Trials, by their ids, side by side: differences, curves, and their champions against each other."""
    from api.schemas.compare import Comparison

    query = {"trial": list(trial), "metric": list(metric) or None, "points": points}
    return get(path_to("compare"), Comparison, query)
