"""TensorBoard itself reads back what was written, once per generation, however often it is written."""

from dataclasses import replace
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.util.tensor_util import make_ndarray

from league.types import Tally, VersionId
from league.win_rates import win_rates_by_name
from orchestrator.contracts.generations import Chart
from workers.activities.charts import ChartActivities
from workers.tensorboard import BadTensorBoardName, GenerationPoints, encode, write_generation

TALLIES = (
    Tally(learner=VersionId("m1"), opponent=VersionId("v7"), seat=0, wins=6, draws=2, losses=2),
    Tally(learner=VersionId("m1"), opponent=VersionId("v7"), seat=1, wins=1, draws=0, losses=3),
    Tally(learner=VersionId("m1"), opponent=VersionId("v8"), seat=0),
    Tally(learner=VersionId("m1"), opponent=VersionId("random"), seat=0, wins=5),
)
FIRST = GenerationPoints(
    trial="first-league",
    player="main",
    generation=1,
    steps=2_000_000,
    committed_at=1_700_000_000.0,
    metrics={"return_mean": 0.25, "entropy": 1.5, "kl": 0.01, "explained_variance": 0.7, "steps_per_second": 200_000.0},
    win_rates=win_rates_by_name(TALLIES, {"v7": "exploiter v7"}),
)
SECOND = replace(FIRST, generation=2, steps=4_000_000, committed_at=1_700_000_060.0, win_rates={})


def runs(root: Path) -> EventMultiplexer:
    shown = EventMultiplexer().AddRunsFromDirectory(str(root))
    shown.Reload()
    return shown


def series(shown: EventMultiplexer, run: str, tag: str) -> list[tuple[int, float]]:
    return [(event.step, float(make_ndarray(event.tensor_proto))) for event in shown.Tensors(run, tag)]


def test_runs_are_trial_and_player_and_points_stand_at_their_steps(tmp_path: Path) -> None:
    write_generation(str(tmp_path), FIRST)
    write_generation(str(tmp_path), SECOND)
    write_generation(str(tmp_path), replace(FIRST, player="exploiter"))
    shown = runs(tmp_path)
    assert sorted(shown.Runs()) == ["first-league/exploiter", "first-league/main"]
    steps = series(shown, "first-league/main", "speed/steps_per_second")
    assert steps == [(2_000_000, 200_000.0), (4_000_000, 200_000.0)]
    assert series(shown, "first-league/main", "learning/entropy")[0] == (2_000_000, 1.5)
    assert series(shown, "first-league/main", "games/return_mean")[0] == (2_000_000, 0.25)


def test_metrics_of_agents_are_a_group_of_their_own(tmp_path: Path) -> None:
    write_generation(str(tmp_path), replace(FIRST, metrics={"agent/damage": 3.5, "kl": 0.01}))
    assert series(runs(tmp_path), "first-league/main", "agent/damage") == [(2_000_000, 3.5)]


def test_win_rates_are_means_over_seats_and_unplayed_opponents_have_none(tmp_path: Path) -> None:
    write_generation(str(tmp_path), FIRST)
    shown = runs(tmp_path)
    assert series(shown, "first-league/main", "win_rate/exploiter v7") == [(2_000_000, pytest.approx((0.7 + 0.25) / 2))]
    assert series(shown, "first-league/main", "win_rate/random") == [(2_000_000, 1.0)]
    tags = shown.Runs()["first-league/main"]["tensors"]
    assert not any("v8" in tag for tag in tags)


def test_a_chart_of_an_earlier_release_shows_the_same_as_one_of_today(tmp_path: Path) -> None:
    chart = Chart(
        trial="t-1",
        trial_name="first-league",
        player="p-1",
        player_name="main",
        generation=1,
        steps=1_000,
        committed_at=1_700_000_000.0,
        metrics={},
        tallies=[
            Tally(learner=VersionId("m1"), opponent=VersionId("v7"), seat=0, wins=1),
            Tally(learner=VersionId("m1"), opponent=VersionId("v8"), seat=0, losses=1),
        ],
        opponent_names={"v7": "main-1"},
    )
    ChartActivities(str(tmp_path)).chart_generation(chart)
    now = replace(chart, generation=2, tallies=[], opponent_names={}, win_rates={"main-1": 1.0, "v8": 0.0})
    ChartActivities(str(tmp_path)).chart_generation(now)
    assert [value for _, value in series(runs(tmp_path), "first-league/main", "win_rate/main-1")] == [1.0, 1.0]
    tags = runs(tmp_path).Runs()["first-league/main"]["tensors"]
    assert {tag for tag in tags if tag.startswith("win_rate/")} == {"win_rate/main-1", "win_rate/v8"}


def test_a_retry_doubles_nothing(tmp_path: Path) -> None:
    assert write_generation(str(tmp_path), FIRST)
    assert not write_generation(str(tmp_path), FIRST)
    assert len(series(runs(tmp_path), "first-league/main", "learning/kl")) == 1


def test_the_same_points_have_the_same_bytes() -> None:
    assert encode(FIRST) == encode(replace(FIRST, metrics=dict(reversed(list(FIRST.metrics.items())))))


@pytest.mark.parametrize("name", ["", "..", "a/b"])
def test_a_name_that_leaves_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadTensorBoardName):
        write_generation(str(tmp_path), replace(FIRST, player=name))
    assert list(tmp_path.iterdir()) == []
