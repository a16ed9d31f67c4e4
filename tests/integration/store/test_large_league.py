"""The large league of the measurements is written as rows, and so has to follow the tables."""

from __future__ import annotations

import psycopg
import pytest

from benchmarks.pictures import many_players
from benchmarks.stacks import large_league
from benchmarks.stacks.large_lineage import grow_lineage
from league.tournaments.knockout import knockout_placings
from league.tournaments.pairing import Pairing, Result

PLAYERS, GAMES = 70, 13


@pytest.fixture
def small(fresh_postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, large_league.LargeLeague]:
    """The same rows for fewer players."""
    monkeypatch.setattr(large_league, "PLAYERS", PLAYERS)
    monkeypatch.setattr(large_league, "GAMES_A_PAIRING", GAMES)
    monkeypatch.setattr(many_players, "LEARNERS", 40)
    url = fresh_postgres_url.replace("+psycopg", "")
    return url, large_league.make_large_league(url)


def test_it_gets_a_lineage(small: tuple[str, large_league.LargeLeague]) -> None:
    url, league = small
    assert (league.matches, league.cells) == (GAMES * PLAYERS * (PLAYERS - 1) // 2, 2 * PLAYERS * (PLAYERS - 1))
    grow_lineage(url, league)


def test_it_gets_a_history(small: tuple[str, large_league.LargeLeague]) -> None:
    url, league = small
    pages = many_players.write_history(url, league)
    assert pages["trial"] == f"/trials/{league.trial}"
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT round, pair, first, second, games, wins, draws, losses FROM pairings WHERE tournament_id = %s",
            (pages["tournament-knockout"].rpartition("/")[2],),
        ).fetchall()
    results = [
        Result(
            pairing=Pairing(round=number, index=pair, first=str(first), second=str(second), games=games),
            wins=wins,
            draws=draws,
            losses=losses,
        )
        for number, pair, first, second, games, wins, draws, losses in rows
    ]
    names = tuple(str(number) for number in range(many_players.KNOCKOUT))
    places = knockout_placings(names, results, {"games": 8})
    assert (places["0"], places["1"], len(places)) == (1, 2, many_players.KNOCKOUT), (
        "as the rule of the bracket pairs them"
    )
