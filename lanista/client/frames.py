"""A league as a pandas frame, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from api.schemas.frames import load_pandas

if TYPE_CHECKING:
    import pandas

    from lanista.client.league import League

PLAYER_COLUMNS = ("name", "role", "status", "bot", "generation", "steps", "version_number", "created_at")


def league_frame(league: League) -> pandas.DataFrame:
    """One row for each player, with its newest rating and its aliases."""
    rows = [_row(league, position) for position in range(len(league.players))]
    columns = [*PLAYER_COLUMNS, "rating", "rating_low", "rating_high", "games", "mean_return", "aliases"]
    frame: pandas.DataFrame = load_pandas().DataFrame(rows, columns=columns).set_index("name")
    return frame


def _row(league: League, position: int) -> dict[str, Any]:
    player = league.players[position]
    rating = league.rating_of(player)
    return {
        **{column: getattr(player, column) for column in PLAYER_COLUMNS},
        "role": player.role.value,
        "status": player.status.value,
        "rating": rating and rating.value,
        "rating_low": rating and rating.low,
        "rating_high": rating and rating.high,
        "games": rating.games if rating else 0,
        "mean_return": league.returns.get(player.id),
        "aliases": ", ".join(league.aliases_of(player)),
    }
