"""The table of players shows the rating of the newest version that has one, with its interval and games."""

from __future__ import annotations

from pathlib import Path

from tests.unit.web.page_scripts import evaluated


def test_the_rating_of_a_player_is_that_of_its_newest_rated_version(tmp_path: Path) -> None:
    found = evaluated(
        tmp_path,
        'const { newestRatings, ratingNotes } = await import("./page/components/player_table.js");'
        "const of = (number, low) => "
        '({ version_id: `v${number}`, player_id: "p", number, low, high: 30, games: number });'
        'const rated = newestRatings([of(2, 1), of(10, -4), of(9, 7)]).get("p");'
        'const player = (version_id) => ({ name: "main", version_id });'
        'return [rated.number, ratingNotes(player("v10"), rated), ratingNotes(player("v11"), rated),'
        ' ratingNotes(player("v1"), of(1, null)).notes];',
    )
    number, own, older, alone = found
    assert number == 10
    assert own["notes"] == "\u22124 to 30, 10 games"
    assert older["notes"] == "v10: \u22124 to 30, 10 games" and "main v10" in older["title"]
    assert alone == "1 game"
