"""The chart of ratings marks where its axis cuts off a band."""

from __future__ import annotations

from pathlib import Path

from tests.unit.web.page_scripts import evaluated


def test_each_stretch_of_a_band_beyond_the_axis_is_marked_once(tmp_path: Path) -> None:
    found, none = evaluated(
        tmp_path,
        """
  const { cutBands } = await import("./page/charts/rating_lines.js");
  const bands = [[-10, 900], [-10, 800], [-10, 700], [-10, 40], [-500, 500], [null, null]];
  const points = bands.map(([low, high], steps) => ({ steps, low, high }));
  return [cutBands(points, [-50, 50]).map(({ steps, isUp }) => [steps, isUp]), cutBands(points, [-1000, 1000])];""",
    )
    assert found == [[1, True], [4, True], [4, False]]
    assert none == []
