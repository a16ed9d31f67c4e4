"""Generations among recorded spans, and the command that shows them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lanista.cli import app
from orchestrator.tracing import spans
from orchestrator.tracing.generations import generation_traces
from orchestrator.tracing.ids import generation_ref
from orchestrator.tracing.reading import RecordedSpan

Written = Callable[[], list[RecordedSpan]]


def generation(number: int, seconds: float, *, ended: bool = True, attempt: int = 1) -> None:
    """The spans of a generation that took so long, as its processes write them."""
    key = {"trial": "t-1", "player": "p-1", "generation": number}
    own, start = generation_ref("t-1", "p-1", number, attempt), 1000.0 * number
    train = spans.record("train_generation", start + 1, start + seconds, spans.own(key), parent=own)
    actor = spans.record("FusedActor 0", start + 1, start + seconds, {"process.pid": 7, "host.name": "h"}, parent=train)
    spans.record("rollout", start + 1, start + 2, spans.own({"busy_seconds": 0.25, "times": 9}), parent=actor)
    if ended:
        names = {"trial_name": "project.league", "player_name": "main"}
        spans.record("generation", start, start + seconds, spans.own(key | names), own=own)


def test_each_span_is_below_the_one_that_it_is_part_of(traced: Written) -> None:
    generation(1, 3.0)
    (found,) = generation_traces(traced())
    assert [(depth, span.name) for depth, span in found.walk()] == [
        (0, "generation"),
        (1, "train_generation"),
        (2, "FusedActor 0"),
        (3, "rollout"),
    ]
    assert (found.trial_name, found.player_name, found.generation, found.seconds) == ("project.league", "main", 1, 3.0)
    assert found.ended and not found.failures


def test_a_generation_under_way_is_found_by_the_names_of_earlier_ones(traced: Written) -> None:
    generation(1, 3.0)
    generation(2, 2.0, ended=False)
    _, second = generation_traces(traced())
    assert (second.trial_name, second.player_name, second.ended) == ("project.league", "main", False)
    assert [depth for depth, _ in second.walk()] == [0, 1, 2]


def test_two_plans_of_a_generation_are_one_trace(traced: Written) -> None:
    generation(1, 3.0)
    generation(1, 5.0, attempt=2)
    (found,) = generation_traces(traced())
    assert [span.name for depth, span in found.walk() if depth == 0] == ["generation", "generation"]


def test_a_span_that_was_written_twice_counts_once(traced: Written) -> None:
    generation(1, 3.0)
    spans.record("generation", 1000.0, 1004.0, own=generation_ref("t-1", "p-1", 1))
    (found,) = generation_traces(traced())
    assert [span.name for _, span in found.walk()].count("generation") == 1
    assert found.seconds == 4.0


def test_other_activities_are_no_generations(traced: Written) -> None:
    with spans.span("play_games", spans.own({"trial": "t-1", "player": "p-1", "generation": 1})):
        pass
    assert generation_traces(traced()) == []


def lanista(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["trace", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_command_lists_the_slowest_first(traced: Written, tmp_path: Path) -> None:
    for number, seconds in ((1, 3.0), (2, 9.0), (3, 5.0)):
        generation(number, seconds)
    traced()
    listed = json.loads(lanista("league", "main", "--folder", str(tmp_path / "traces"), "--json", "--limit", "2"))
    assert [(each["generation"], each["seconds"]) for each in listed] == [(2, 9.0), (3, 5.0)]
    assert "9.00" in lanista("t-1", "--folder", str(tmp_path / "traces"))


def test_the_command_shows_where_the_time_of_one_went(traced: Written, tmp_path: Path) -> None:
    generation(1, 3.0)
    traced()
    shown = lanista("league", "p-1", "1", "--folder", str(tmp_path / "traces"))
    assert generation_ref("t-1", "p-1", 1).trace_hex in shown
    rollout = next(line for line in shown.splitlines() if "rollout" in line)
    assert "0.250" in rollout and "9 times" in rollout
    (told,) = json.loads(lanista("league", "main", "1", "--folder", str(tmp_path / "traces"), "--json"))
    assert [span["name"] for span in told["spans"]] == ["generation", "train_generation", "FusedActor 0", "rollout"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["league", "main", "4"], "No spans of generation 4 of main in the trial league"),
        (["other"], "No spans of a generation of any player in the trial other"),
    ],
)
def test_what_is_not_there_is_said(traced: Written, tmp_path: Path, arguments: list[str], problem: str) -> None:
    generation(1, 3.0)
    traced()
    done = CliRunner().invoke(app, ["trace", *arguments, "--folder", str(tmp_path / "traces")])
    assert problem in str(done.exception)


def test_a_folder_without_spans_says_how_to_get_some(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["trace", "league", "--home", str(tmp_path)])
    assert "LANISTA_TRACING=file" in str(done.exception)
