"""The guide of populations states what the committed runs say, and the summary counts as it is described."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.strength.population import FILE, MEMBERS, Row, summary, write
from benchmarks.strength.population_plot import draw_schedule

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "populations.md"


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    found: list[Row] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def test_the_guide_states_the_committed_rows(rows: list[Row]) -> None:
    guide, found = GUIDE.read_text(encoding="utf-8"), summary(rows)
    assert [len(found[part]) for part in ("cartpole", "connect_four")] == [3, 3]
    for each in found["cartpole"]:
        numbers = f"{each['population_steps']:,} | {each['six_times_median']:,.0f} | {each['fixed_that_reached']} of 6"
        assert f"| {each['seed']} | {numbers} | {each['six_times_best']:,} |" in guide
    for each in found["connect_four"]:
        best, low, high = each["best"]
        mean = f"{each['difference']} ({each['low']} to {each['high']})"
        assert f" | {mean} | {best} ({low} to {high}) |" in guide


def fixed(seed: int, steps: int | None) -> Row:
    return {"part": "cartpole", "kind": "fixed", "seed": seed, "steps": steps, "budget": 1000}


def whole(seed: int, steps: int | None) -> Row:
    generations = [{"copied": None}, {"copied": "main.2"}]
    return {"part": "cartpole", "kind": "population", "seed": seed, "steps": steps, "budget": 6000} | {
        "generations": generations
    }


def test_runs_that_never_get_there_count_at_their_budget() -> None:
    some = [fixed(1, steps) for steps in (100, 200, 300, None, None, None)]
    (found,) = summary([*some, whole(1, 3000)])["cartpole"]
    assert found["six_times_median"] == MEMBERS * (300 + 1000) / 2
    assert (found["six_times_best"], found["fixed_that_reached"], found["copies"]) == (600, 3, 1)
    assert found["fewer"] is True
    assert summary([*some, whole(1, 3900)])["cartpole"][0]["fewer"] is False
    assert summary([*some, whole(1, None)])["cartpole"][0]["fewer"] is False
    assert summary([*some[:-1], whole(1, 3000)])["cartpole"] == [], "a seed without all its runs is left out"


def test_rows_are_written_whole_and_one_a_line(tmp_path: Path, rows: list[Row]) -> None:
    file = tmp_path / "rows.json"
    write(file, rows)
    assert json.loads(file.read_text()) == rows
    assert len(file.read_text().splitlines()) == len(rows) + 2
    assert [path.name for path in tmp_path.iterdir()] == ["rows.json"]


def test_the_schedule_is_drawn_from_the_rows(tmp_path: Path, rows: list[Row]) -> None:
    shown: list[dict[str, Any]] = [row for row in rows if row["kind"] == "population"]
    draw_schedule(shown, tmp_path / "plot.svg")
    drawn = (tmp_path / "plot.svg").read_text()
    assert drawn.count("<polyline") == 3 * MEMBERS
    assert drawn == (Path(__file__).parents[3] / "docs" / "images" / "population.svg").read_text()
