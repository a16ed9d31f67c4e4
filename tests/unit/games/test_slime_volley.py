"""Slime volleyball: recorded episodes of the package slimevolleygym, and rules that a person can check by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from workers.games.builtin.slime_volley import LIVES, MAX_STEPS, NAMES, SlimeVolley, serve

RECORDED = Path(__file__).parent / "slime_volley.npz"
"""Written by `python -m benchmarks.slime_volley --fixture`: what the package showed, paid and ended."""
STAY, FORWARD, JUMP = NAMES.index("stay"), NAMES.index("forward"), NAMES.index("jump")


def started(*seeds: int) -> SlimeVolley:
    game = SlimeVolley(tables=len(seeds))
    game.auto_reset = False
    game.reset(np.array(seeds, np.uint64))
    return game


def seen(game: SlimeVolley, table: int = 0) -> np.ndarray:
    return np.array(game.turn().observations).reshape(-1, 2, 12)[table]


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    with np.load(RECORDED) as found:
        return dict(found)


def test_recorded_episodes_go_as_in_the_package(recorded: dict[str, Any]) -> None:
    ends = np.flatnonzero(recorded["done"])
    lengths = np.diff(ends, prepend=-1)
    assert len(ends) == len(recorded["seeds"]) >= 3 and lengths.max() == MAX_STEPS and lengths.min() < 1000
    game, starts = started(*recorded["seeds"].tolist()), ends - lengths + 1
    kept = {int(step): shown for step, shown in zip(recorded["kept"], recorded["observations"], strict=True)}
    compared = 0
    for ply in range(MAX_STEPS):
        running = np.flatnonzero(ply < lengths)
        actions = np.zeros((game.tables, 2), np.int64)
        actions[running] = recorded["actions"][starts[running] + ply]
        result = game.step(actions.ravel())
        for table in running.tolist():
            step = int(starts[table] + ply)
            assert result.rewards[table].tolist() == [-recorded["rewards"][step], recorded["rewards"][step]], step
            assert result.done[table] == recorded["done"][step], step
            if step in kept:
                assert np.array_equal(seen(game, table), kept[step]), f"step {step}, ply {ply} of episode {table}"
                compared += 1
    assert compared == len(kept) > 1000


def test_the_serve_is_drawn_from_the_seed_and_the_point() -> None:
    seeds = np.arange(2000, dtype=np.uint64)
    across, up = serve(seeds, np.zeros(2000, np.int64))
    assert -20 <= across.min() < -19.5 and 19.5 < across.max() < 20
    assert 10 <= up.min() < 10.2 and 24.8 < up.max() < 25
    later, _ = serve(seeds, np.ones(2000, np.int64))
    assert not np.isin(across, later).any()
    game = started(7, 8)
    assert seen(game, 0)[1, 6] == np.float32(serve(np.array([7], np.uint64), np.array([0]))[0][0] / 10)


def test_the_ball_hangs_for_thirty_steps_and_then_falls() -> None:
    game = started(3)
    for _ in range(30):
        game.step(np.array([STAY, STAY]))
        assert seen(game)[1, 4:6].tolist() == [0.0, np.float32(1.2)]
    game.step(np.array([STAY, STAY]))
    assert seen(game)[1, 5] > np.float32(1.2)


def test_both_sides_see_the_court_mirrored() -> None:
    game = started(5)
    rng = np.random.default_rng(0)
    for _ in range(300):
        game.step(rng.integers(0, len(NAMES), 2))
        left, right = seen(game)
        assert np.array_equal(left[:4], right[8:]) and np.array_equal(left[8:], right[:4])
        assert np.array_equal(left[4:8], right[4:8] * np.array([-1, 1, -1, 1], np.float32))


def test_slimes_jump_from_the_ground_alone_and_stop_at_the_fence() -> None:
    game = started(1)
    game.step(np.array([JUMP, STAY]))
    up = seen(game)[0, 1]
    assert up > 0.15 and seen(game)[0, 3] == np.float32(1.35)
    game.step(np.array([JUMP, STAY]))
    assert seen(game)[0, 3] < np.float32(1.35), "it is in the air, and falls"
    for _ in range(40):
        game.step(np.array([FORWARD, FORWARD]))
    assert seen(game)[:, 0].tolist() == [np.float32(0.2)] * 2 and seen(game)[:, 2].tolist() == [0.0, 0.0]


def test_five_lives_end_a_game_and_the_points_are_its_returns() -> None:
    game = started(*range(8))
    totals, over = np.zeros((8, 2)), np.zeros(8, bool)
    for _ in range(MAX_STEPS):
        result = game.step(np.full(16, STAY))
        totals += result.rewards * ~over[:, None]
        assert not result.truncated[result.done & ~over].any()
        over |= result.done
        if over.all():
            break
    assert over.all() and (totals.sum(axis=1) == 0).all()
    assert (np.abs(totals).max(axis=1) <= LIVES).all() and (totals[:, 0] != 0).all(), "one of the two has lost five"


def test_a_game_that_the_clock_ends_is_truncated() -> None:
    game = started(2)
    game._lives[:] = 10**6  # nobody can lose them all within the time
    for _ in range(MAX_STEPS - 1):
        assert not game.step(np.array([STAY, STAY])).done[0]
    result = game.step(np.array([STAY, STAY]))
    assert result.done[0] and result.truncated[0]


def test_the_picture_has_slimes_ball_and_lives() -> None:
    game = started(4)
    game._lives[0] = [2, 5]
    picture = ElementTree.fromstring(game.render_svg(0))
    circles = [part for part in picture if part.tag.endswith("circle")]
    assert len([part for part in circles if part.get("r") == "4" and part.get("cy") == "14"]) == 7
    assert len([part for part in picture if part.tag.endswith("path")]) == 2
    game._ball_y[0] = 40.0
    assert len([part for part in ElementTree.fromstring(game.render_svg(0)) if part.tag.endswith("path")]) == 3
    assert "left slime 12.0 m from the fence, 0.0 m up, lives: 2" in game.render_text(0)
