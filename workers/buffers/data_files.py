"""Reads data sets: files of decisions in the import folders, or what an import path of the user's own code gives.

A file has one column an array, rows first: `obs` (or `obs/<part>`), `action`, `reward`, `legal` where actions are
masked, `next_row` (the row of the same seat's next decision, or -1 at the end of the game) or `terminal`, and `game`,
the number of the game, by which rows are held out. In .npz files a column has any shape; in .parquet files a column of
lists is one row of numbers each, which is brought into the shape that the game says.
"""

from __future__ import annotations

import importlib
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.user_code.import_folders import find_imports
from workers.buffers.dataset import from_columns
from workers.buffers.errors import BadData
from workers.games.protocol import GameSpec
from workers.games.spaces import ActionLayout
from workers.rollout.batch import PENDING, TERMINAL, Experience

GAME = "game"
_IMPORT_PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_PARQUET = "needs pyarrow, which is not installed here: pip install 'lanista[parquet]'"


def read_source(source: str, folders: Sequence[Path] | None) -> Iterator[tuple[str, Experience]]:
    """The experience of one entry of `dataset`, file by file with its name; `folders` None allows any path."""
    if is_import_path(source):
        for number, batch in enumerate(_imported(source)):
            yield f"{source}, item {number}", batch
        return
    for path in find_files(source, folders):
        yield str(path), _read_file(path)


def is_import_path(source: str) -> bool:
    """Whether an entry of `dataset` names code, and not files."""
    return _IMPORT_PATH.fullmatch(source) is not None


def find_files(source: str, folders: Sequence[Path] | None) -> list[Path]:
    """The files of a path or pattern, in the order of their names."""
    found = sorted(Path().glob(source)) if folders is None and not Path(source).is_absolute() else []
    if folders is None:
        absolute = Path(source)
        found = found or sorted(absolute.parent.glob(absolute.name))
        if not found:
            raise BadData(f"no file is called {source}")
        return found
    return find_imports(source, folders)


def fit(batch: Experience, spec: GameSpec, name: str) -> Experience:
    """The batch with the columns that the game has, in its types; raises BadData for what does not fit."""
    layout, rows = ActionLayout(spec.action), len(batch)
    wanted: dict[str, tuple[tuple[int, ...], np.dtype[Any]]] = {
        f"obs/{part}" if part else "obs": (each.shape, each.dtype) for part, each in spec.observation_parts.items()
    }
    wanted["action"] = (layout.shape, layout.dtype)
    columns: dict[str, NDArray[Any]] = {"reward": batch.rewards}
    for column, (shape, dtype) in wanted.items():
        columns[column] = _shaped(batch.columns, column, (rows, *shape), dtype, name)
    if layout.mask_width is not None:
        columns["legal"] = _legal(batch, layout.mask_width, name)
    _check_actions(columns, spec, layout, name)
    if GAME in batch.columns:
        columns[GAME] = batch.columns[GAME]
    if (batch.next_row < PENDING).any() or ((batch.next_row >= 0) & (batch.next_row <= np.arange(rows))).any():
        raise BadData(
            f"{name}: next_row must name a later row, or be -1 at the end of a game, or -2 where it was cut off"
        )
    if (batch.next_row >= rows).any():
        raise BadData(f"{name}: next_row names row {int(batch.next_row.max())}, and there are {rows}")
    return Experience(
        columns=columns,
        next_row=batch.next_row,
        offsets=batch.offsets,
        streams=batch.streams,
        acted_by=batch.acted_by,
        tables=batch.tables,
    )


def returns(batch: Experience, gamma: float) -> NDArray[np.float32]:
    """The discounted sum of the rewards from each row to the end of its game."""
    found = [*batch.rewards.tolist(), 0.0]  # index TERMINAL (-1) reads the 0
    links = np.maximum(batch.next_row, TERMINAL).tolist()
    for row in range(len(links) - 1, -1, -1):
        found[row] += gamma * found[links[row]]
    return np.array(found[:-1], np.float32)


def hold_out(batch: Experience, share: float) -> tuple[Experience, Experience]:
    """Divide a batch by games into rows to learn from and a share to measure on, the same at each call."""
    found, number = np.unique(_games(batch), return_inverse=True)
    held = np.random.default_rng(len(found)).permutation(len(found)) < round(share * len(found))
    return _part(batch, ~held[number]), _part(batch, held[number])


def _games(batch: Experience) -> NDArray[np.int64]:
    """The number of each row's game; without a column for it, of the trajectory that it belongs to."""
    if GAME in batch.columns:
        return np.asarray(batch.columns[GAME]).astype(np.int64)
    found = list(range(len(batch)))
    for row, after in enumerate(batch.next_row.tolist()):
        if after >= 0:
            found[after] = found[row]
    return np.array(found, np.int64)


def _part(batch: Experience, chosen: NDArray[np.bool_]) -> Experience:
    """Some rows of a batch; links do not lead out of them."""
    rows = np.flatnonzero(chosen)
    places = np.full(len(batch), TERMINAL, np.int64)
    places[rows] = np.arange(len(rows))
    return Experience(
        columns={name: column[rows] for name, column in batch.columns.items()},
        next_row=np.where(batch.next_row[rows] >= 0, places[batch.next_row[rows]], batch.next_row[rows]),
        offsets=np.arange(len(rows) + 1),
        streams=batch.streams[rows],
        acted_by=batch.acted_by[rows],
        tables=batch.tables,
    )


def rows_in(path: Path) -> int:
    """The rows of a data file, by its header alone."""
    with _reading(path):
        if path.suffix == ".npz":
            return _npz_rows(path)
        return int(_parquet_reader(path).ParquetFile(path).metadata.num_rows)


def _read_file(path: Path) -> Experience:
    with _reading(path):
        return from_columns(_columns(path), str(path))


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Raise BadData for a file of another format, or one that is cut off."""
    if path.suffix not in (".npz", ".parquet"):
        raise BadData(f"{path}: data files are .npz or .parquet")
    try:
        yield
    except BadData:
        raise
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise BadData(f"{path} is not a whole {path.suffix} file of arrays: {error}") from error


def _npz_rows(path: Path) -> int:
    with zipfile.ZipFile(path) as file:
        if "action.npy" not in file.namelist():
            raise BadData(f"{path} has no column action")
        with file.open("action.npy") as column:
            version = np.lib.format.read_magic(column)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape = read(column)[0]
    return int(shape[0]) if shape else 0


def _columns(path: Path) -> dict[str, NDArray[Any]]:
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    return _parquet(path)


def _parquet_reader(path: Path) -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise BadData(f"{path}: {_PARQUET}") from None
    return parquet


def _parquet(path: Path) -> dict[str, NDArray[Any]]:
    table = _parquet_reader(path).read_table(path)
    columns = {name: table.column(name).combine_chunks() for name in table.column_names}
    return {name: _array(column, f"{path}: {name}") for name, column in columns.items()}


def _array(column: Any, name: str) -> NDArray[Any]:
    """A column of numbers, or of lists of equal length as [rows, *lengths]."""
    shape = [len(column)]
    while hasattr(column, "value_lengths"):
        _refuse_empty(column, name)
        lengths = np.unique(column.value_lengths().to_numpy(zero_copy_only=False))
        if len(lengths) > 1:
            raise BadData(f"{name} has lists of {lengths[0]} to {lengths[-1]} values; all must have the same length")
        shape.append(int(lengths[0]) if len(lengths) else 0)
        column = column.flatten()
    _refuse_empty(column, name)
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values.reshape(shape)


def _refuse_empty(column: Any, name: str) -> None:
    if column.null_count:
        raise BadData(f"{name} has {column.null_count} empty values (null); every row needs a value")


def _imported(source: str) -> Iterable[Experience]:
    """What the name stands for: experience or mappings of columns, an iterable of them, or a function that gives it."""
    module, _, attribute = source.partition(":")
    found: Any = importlib.import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    made = found() if callable(found) else found
    for batch in [made] if isinstance(made, Mapping | Experience) else made:
        yield batch if isinstance(batch, Experience) else from_columns(dict(batch), source)


def _shaped(
    columns: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...], dtype: np.dtype[Any], where: str
) -> NDArray[Any]:
    found = columns.get(name)
    if found is None:
        raise BadData(f"{where} has no column {name}; it has {', '.join(sorted(columns))}")
    if found.size != int(np.prod(shape)):
        raise BadData(f"{where}: {name} is {list(found.shape)}, the game has {list(shape)}")
    if np.issubdtype(dtype, np.integer) and not np.issubdtype(found.dtype, np.integer) and found.dtype != np.bool_:
        raise BadData(f"{where}: {name} is {found.dtype}, the game has {dtype}")
    return found.reshape(shape).astype(dtype, copy=False)


def _legal(batch: Experience, width: int, name: str) -> NDArray[np.bool_]:
    """The legal actions; all of them where a file does not say, as in a game that gives no mask."""
    if "legal" not in batch.columns:
        return np.ones((len(batch), width), np.bool_)
    return _shaped(batch.columns, "legal", (len(batch), width), np.dtype(np.bool_), name)


def _check_actions(columns: Mapping[str, NDArray[Any]], spec: GameSpec, layout: ActionLayout, name: str) -> None:
    """Actions that cannot be played would make a loss of any size."""
    flat = columns["action"].reshape(len(columns["action"]), -1)
    low, high = layout.bounds
    wrong = ((flat < low - 1e-4) | (flat > high + 1e-4) | ~np.isfinite(flat)).any(1)
    if spec.discrete and "legal" in columns and not wrong.any():
        wrong = ~columns["legal"][np.arange(len(flat)), flat[:, 0]]
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise BadData(f"{name}: the action of row {row}, {flat[row].tolist()}, is not legal in {spec.id}")
