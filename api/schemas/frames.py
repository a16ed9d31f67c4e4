"""Answers as pandas frames, for notebooks. pandas is imported when the first frame is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from api.schemas.metrics import Point, Series

if TYPE_CHECKING:
    import pandas


def matrix_frame(names: Sequence[str], matrix: Sequence[Sequence[float | None]]) -> pandas.DataFrame:
    """A square matrix, row against column."""
    library = load_pandas()
    rows, columns = library.Index(names, name="player"), library.Index(names, name="opponent")
    # a dtype for the whole matrix: a column of nulls would otherwise have the dtype object
    kind = "int64" if all(isinstance(value, int) for row in matrix for value in row) else "float64"
    frame: pandas.DataFrame = library.DataFrame(matrix, index=rows, columns=columns, dtype=kind)
    return frame


def frame_of(schema: type[BaseModel], items: Sequence[BaseModel]) -> pandas.DataFrame:
    """One row per item and one column per field; without items, only the columns. Series have a row per value."""
    if issubclass(schema, Series):
        rows: list[Any] = [row for item in items if isinstance(item, Series) for row in item.rows()]
        columns = list(Point.__annotations__)
    else:
        rows, columns = [item.model_dump() for item in items], list(schema.model_fields)
    frame: pandas.DataFrame = load_pandas().DataFrame(rows, columns=columns)
    return frame


def load_pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("to_frame() needs pandas: pip install pandas") from None
    return pandas
