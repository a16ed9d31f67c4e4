"""The rating chart of a league's report: a line for each player, broken where the player was reset."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from api.web.reports.league.charts import rating_chart, rating_lines

START = datetime(2030, 1, 1, tzinfo=UTC)
PLAYERS: list[dict[str, Any]] = [
    {"id": "p", "name": "exploiter", "parent_id": None},
    {"id": "s", "name": "exploiter-1", "parent_id": "p"},
]


def rated(player: str, version: str, steps: int, minute: int) -> dict[str, Any]:
    return {
        "player_id": player,
        "player": player,
        "version_id": version,
        "steps": steps,
        "value": float(steps),
        "low": steps - 10.0,
        "high": steps + 10.0,
        "recorded_at": START + timedelta(minutes=minute),
    }


RATINGS = [rated("p", "v1", 10, 1), rated("s", "s1", 20, 2), rated("p", "fresh", 20, 2), rated("p", "v3", 30, 3)]
RESET: dict[str, Any] = {"player_id": "p", "version_id": "fresh", "created_at": START + timedelta(minutes=2)}


def test_a_line_ends_at_a_reset_and_another_begins() -> None:
    (line,) = rating_lines(RATINGS, PLAYERS, [RESET])
    assert [[point["version_id"] for point in piece] for piece in line.pieces] == [["v1", "s1"], ["fresh", "v3"]]
    assert rating_chart([line]).count("<polyline") == 2


def test_a_reset_of_which_no_version_was_rated_ends_a_line_too() -> None:
    (line,) = rating_lines([RATINGS[0], RATINGS[3]], PLAYERS, [RESET | {"version_id": "unrated"}])
    assert [len(piece) for piece in line.pieces] == [1, 1]
    assert "<polyline" not in rating_chart([line]), "single points are dots"


def test_without_a_reset_and_for_other_players_a_line_is_whole() -> None:
    for resets in ([], [RESET | {"player_id": "q"}]):
        (line,) = rating_lines(RATINGS, PLAYERS, resets)
        assert len(line.pieces) == 1
