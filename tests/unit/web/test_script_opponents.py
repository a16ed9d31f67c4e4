"""The payoff page says who beats a player most often, and what its intervals are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from league.payoff import effective_games
from tests.unit.web.page_scripts import evaluated

PAYOFF = """
  const { aheadNote, askedAbout, opponentsOf, recency } = await import("./page/core/opponents.js");
  const player = (id, role, status = "active") => ({ id, name: id, role, status });
  const learning = [player("main", "main"), player("x", "main_exploiter")];
  const players = [player("bot", "bot"), player("old", "main", "retired"), ...learning];
  const learns = ["main", "main_exploiter"];
  const all = (value) => players.map(() => players.map(() => value));
  const rates = [0.7, 0.55, null, 0.4];
  const matrix = (shift) => all(null).map((row, at) => (at === 2 ? rates.map((rate) => rate && rate + shift) : row));
  const payoff = { players, min_games: 8, wins: all(50), draws: all(0), losses: all(50),
    win_rate: matrix(0), low: matrix(-0.06), high: matrix(0.06) };
"""


def test_those_that_learn_are_among_the_hardest_opponents_of_the_main_player(tmp_path: Path) -> None:
    asked, named, hardest, said = evaluated(
        tmp_path,
        PAYOFF
        + """
  const found = opponentsOf(payoff, "main");
  const notes = [found, found.slice(1), found.slice(2)].map((each) => aheadNote("main", each));
  const ids = [askedAbout(players, learns).id, askedAbout(players, learns, "x").id];
  return [...ids, found.map(({ id }) => id), notes];""",
    )
    assert (asked, named) == ("main", "x")
    assert hardest == ["x", "old", "bot"], "the worst win rate first"
    assert said == [
        "1 of 3 beats main more often than not, with 95 % confidence.",
        "Of 2 none beats main more often than not with 95 % confidence; of 1 it is open.",
        "main beats each of 1 more often than not, with 95 % confidence.",
    ]


@pytest.mark.parametrize(("decay", "games"), [(1, 10**6), (0.99995, 200), (0.99995, 185_825), (0.99, 100)])
def test_an_interval_that_rests_on_fewer_games_than_were_played_says_so(
    tmp_path: Path, decay: float, games: int
) -> None:
    said = evaluated(tmp_path, PAYOFF + f"return recency({{ decay: {decay} }}, {games});")
    assert bool(said) == (effective_games(games, decay) < 0.99 * games)
