"""A player has the same colour on every page of its trial."""

from __future__ import annotations

from pathlib import Path

from tests.unit.web.page_scripts import STATIC, evaluated

ROSTER = """
  const { looksOf, rosterPlaces } = await import("./page/core/roster_colours.js");
  const player = (id, created_commit, parent_id = null) => ({ id, name: id, created_commit, parent_id });
  const first = [player("main", 0), player("exploiter", 0), player("bot", 0)];
  const later = [player("main-1", 7, "main"), player("fresh", 8), ...first];
"""


def test_a_colour_follows_from_the_roster_and_not_from_which_lines_are_drawn(tmp_path: Path) -> None:
    all_of_them, best, snapshot, fresh = evaluated(
        tmp_path,
        ROSTER
        + """
  const [before, after] = [first, later].map(rosterPlaces);
  return [
    looksOf(["bot", "exploiter", "main"], before),
    looksOf(["main", "bot"], after),
    looksOf(["main-1"], after),
    looksOf(["fresh"], after),
  ];""",
    )
    assert [each["colour"] for each in all_of_them] == [0, 1, 2]
    assert best == [all_of_them[2], all_of_them[0]], "neither their order nor newer players change it"
    assert snapshot == [all_of_them[2]], "that of its player"
    assert fresh[0]["colour"] == 3


def test_lines_of_one_chart_look_different_however_large_the_roster_is(tmp_path: Path) -> None:
    looks = evaluated(
        tmp_path,
        ROSTER
        + """
  const many = Array.from({ length: 300 }, (_, at) => player(`p-${at}`, at));
  return looksOf(Array.from({ length: 10 }, (_, at) => `p-${18 * at}`), rosterPlaces(many));""",
    )
    assert len({(each["colour"], each["dash"]) for each in looks}) == 10


def test_every_chart_of_players_takes_its_colours_from_there() -> None:
    for name in ("rating_chart", "trend_chart"):
        assert "looksOf(" in (STATIC / f"charts/{name}.js").read_text()
    for name in ("trial", "metrics", "player"):
        assert (
            "players)" in (STATIC / f"pages/{name}.js").read_text().split("chartView(context.query, ")[1].split(";")[0]
        )
