"""Answers as pandas frames, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    import pandas

    from lanista.client.league import League

PLAYER_COLUMNS = ("name", "role", "status", "bot", "generation", "steps", "version_number", "created_at")


def matrix_frame(names: Sequence[str], matrix: Sequence[Sequence[float | None]]) -> pandas.DataFrame:
    """A square matrix, row against column."""
    library = _pandas()
    rows, columns = library.Index(names, name="player"), library.Index(names, name="opponent")
    # numbers throughout: a column in which nobody met would otherwise become one of objects
    kind = "int64" if all(isinstance(value, int) for row in matrix for value in row) else "float64"
    frame: pandas.DataFrame = library.DataFrame(matrix, index=rows, columns=columns, dtype=kind)
    return frame


def frame_of(shape: type[BaseModel], items: Sequence[BaseModel]) -> pandas.DataFrame:
    """One row for each item, one column for each field, also where there is no item."""
    frame: pandas.DataFrame = _pandas().DataFrame(
        [item.model_dump() for item in items], columns=list(shape.model_fields)
    )
    return frame


def league_frame(league: League) -> pandas.DataFrame:
    """One row for each player, with its newest rating and what it is called."""
    rows = [_row(league, position) for position in range(len(league.players))]
    columns = [*PLAYER_COLUMNS, "rating", "rating_low", "rating_high", "games", "aliases"]
    frame: pandas.DataFrame = _pandas().DataFrame(rows, columns=columns).set_index("name")
    return frame


def _row(league: League, position: int) -> dict[str, Any]:
    player = league.players[position]
    rating = league.rating_of(player)
    return {
        **{column: getattr(player, column) for column in PLAYER_COLUMNS},
        "role": player.role.value,
        "rating": rating and rating.value,
        "rating_low": rating and rating.low,
        "rating_high": rating and rating.high,
        "games": rating.games if rating else 0,
        "aliases": ", ".join(league.names_of(player)),
    }


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("to_frame() needs pandas: pip install pandas") from None
    return pandas
