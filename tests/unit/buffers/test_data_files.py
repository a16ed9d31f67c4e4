"""Data sets from files, patterns and iterables: what fits a game, what is held out, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orchestrator.contracts.errors import Failure
from orchestrator.spec.algorithms.imitation import DatasetOptions
from orchestrator.user_code.import_folders import NotImportable
from tests.unit.algorithms.imitation.samples import box_rows, centre_games, write
from workers.activities.failures import failure_kind
from workers.algorithms.imitation.offline import drawn_ahead
from workers.buffers.data_files import find_files, fit, hold_out, read_source, returns, rows_in
from workers.buffers.dataset import from_columns
from workers.buffers.demonstrations import RETURN, Demonstrations, check_first
from workers.buffers.errors import BadData
from workers.games.names import make_game

SPEC = make_game("tic_tac_toe", 1).spec
HERE = "tests.unit.buffers.test_data_files"


def given() -> Any:
    """Two batches, as a user's own iterable gives them."""
    yield centre_games(4)
    yield from_columns(centre_games(2))


def test_a_pattern_names_files_of_the_import_folders(tmp_path: Path) -> None:
    inside, outside = tmp_path / "imports", tmp_path / "elsewhere"
    for folder in (inside / "games", outside):
        folder.mkdir(parents=True)
        write(folder / "one.npz", centre_games(2))
        write(folder / "two.npz", centre_games(3))
    assert [path.name for path in find_files("games/*.npz", [inside])] == ["one.npz", "two.npz"]
    assert [path.name for path in find_files(str(inside / "games" / "one.npz"), [inside])] == ["one.npz"]
    (inside / "link.npz").symlink_to(outside / "one.npz")
    for wrong in (str(outside / "*.npz"), "../elsewhere/one.npz", "link.npz"):
        with pytest.raises(NotImportable, match="LANISTA_IMPORT_FOLDERS"):
            find_files(wrong, [inside])
    with pytest.raises(NotImportable, match="there is no file"):
        find_files("games/three.npz", [inside])
    assert len(find_files(str(outside / "*.npz"), None)) == 2, "one's own process reads from anywhere"


def test_demonstrations_hold_whole_games_out(tmp_path: Path) -> None:
    data = centre_games(40)
    options = DatasetOptions(dataset=(write(tmp_path / "games.npz", data),), validation_share=0.25)
    found = Demonstrations(options, SPEC, gamma=1.0)
    assert found.validation is not None
    assert len(found) + len(found.validation) == len(data["action"])
    learnt, held = hold_out(from_columns(dict(data)), 0.25)
    games = [set(np.asarray(part.columns["game"]).tolist()) for part in (learnt, held)]
    assert not games[0] & games[1]
    assert len(games[1]) == 10
    assert (len(learnt), len(held)) == (len(found), len(found.validation))
    for part in (learnt, held):
        linked = part.next_row >= 0
        assert (part.columns["game"][part.next_row[linked]] == part.columns["game"][linked]).all()


def test_without_numbers_of_games_trajectories_are_held_out() -> None:
    learnt, held = hold_out(from_columns(dict(box_rows(100))), 0.3)
    assert (len(learnt), len(held)) == (70, 30), "games of 10 decisions each"


def test_a_validation_set_of_its_own_leaves_the_data_whole(tmp_path: Path) -> None:
    names = [write(tmp_path / f"{name}.npz", centre_games(count)) for name, count in (("train", 10), ("held", 3))]
    found = Demonstrations(DatasetOptions(dataset=(names[0],), validation_dataset=(names[1],)), SPEC, gamma=1.0)
    assert len(found) == len(centre_games(10)["action"])
    assert found.validation is not None and len(found.validation) == len(centre_games(3)["action"])


def test_returns_are_those_of_a_loop() -> None:
    batch = from_columns(dict(centre_games(5)))
    found = returns(batch, 0.9)
    for row in range(len(batch)):
        total, weight, at = 0.0, 1.0, row
        while at >= 0:
            total, weight, at = total + weight * float(batch.rewards[at]), weight * 0.9, int(batch.next_row[at])
        assert found[row] == pytest.approx(total, abs=1e-6)


def test_an_iterable_of_ones_own_gives_batches() -> None:
    found = Demonstrations(DatasetOptions(dataset=(f"{HERE}:given",), validation_share=0.0), SPEC, gamma=1.0)
    assert len(found) == len(centre_games(4)["action"]) + len(centre_games(2)["action"])
    drawn = found.draw(8, np.random.default_rng(0))
    assert drawn is not None
    assert {"obs", "legal", "action", "reward", RETURN, "next/obs", "discount"} <= drawn.columns.keys()
    assert "game" not in drawn.columns
    assert found.state() == {}, "data are read again, not stored"


def test_a_file_without_masks_counts_every_action_as_legal(tmp_path: Path) -> None:
    data = centre_games(4)
    write(tmp_path / "a.npz", data)
    write(tmp_path / "b.npz", {name: column for name, column in data.items() if name != "legal"})
    options = DatasetOptions(dataset=(str(tmp_path / "*.npz"),), validation_share=0.0)
    found = Demonstrations(options, SPEC, gamma=1.0)
    drawn = found.draw(400, np.random.default_rng(0))
    assert drawn is not None
    masks = drawn.columns["legal"]
    assert masks.shape == (400, 9) and drawn.columns["next/legal"].shape == (400, 9)
    open_fields = drawn.columns["obs"].reshape(400, 2, 9).sum(1) == 0
    whole, known = masks.all(1), (masks == open_fields).all(1)
    assert (whole | known).all() and (~whole).any() and (~known).any(), "rows of both files"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"obs": np.zeros((4, 5), np.float32)}, r"obs is \[4, 5\], the game has \[4, 2, 3, 3\]"),
        ({"action": np.array([0, 1, 9, 2])}, r"the action of row 2, \[9\], is not legal"),
        ({"action": np.array([0.5, 1, 2, 3])}, "action is float64, the game has int64"),
        ({"legal": np.zeros((4, 9), np.bool_)}, "the action of row 0"),
        ({"next_row": np.array([1, 0, -1, -1])}, "next_row must name a later row"),
        ({"next_row": np.array([1, 7, -1, -1])}, "next_row names row 7"),
    ],
)
def test_what_does_not_fit_the_game_is_refused(change: dict[str, Any], words: str) -> None:
    columns = {
        "obs": np.zeros((4, 2, 3, 3), np.float32),
        "action": np.arange(4),
        "reward": np.zeros(4),
        "next_row": np.full(4, -1),
    } | change
    with pytest.raises(BadData, match=words):
        fit(from_columns(columns), SPEC, "the file")


def test_missing_columns_and_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "games.csv").write_text("a,b")
    with pytest.raises(BadData, match=r"data files are \.npz or \.parquet"):
        list(read_source(str(tmp_path / "games.csv"), None))
    short = write(tmp_path / "short.npz", {"obs": np.zeros((2, 18)), "reward": np.zeros(2)})
    with pytest.raises(BadData, match="needs the columns obs, action and reward"):
        check_first(DatasetOptions(dataset=(short,)), SPEC, None)
    with pytest.raises(BadData, match="no file is called"):
        check_first(DatasetOptions(dataset=(str(tmp_path / "none-*.npz"),)), SPEC, None)


def test_the_check_says_how_much_memory_all_files_take(tmp_path: Path) -> None:
    for name, games in (("a", 10), ("b", 30), ("held", 5)):
        write(tmp_path / f"{name}.npz", centre_games(games))
    options = DatasetOptions(
        dataset=(str(tmp_path / "[ab].npz"),), validation_dataset=(str(tmp_path / "held.npz"),), validation_share=0.0
    )
    assert check_first(options, SPEC, None) == Demonstrations(options, SPEC, gamma=1.0).nbytes
    with_code = DatasetOptions(dataset=(f"{HERE}:given",), validation_share=0.0)
    assert 0 < check_first(with_code, SPEC, None) < Demonstrations(with_code, SPEC, gamma=1.0).nbytes
    (tmp_path / "b.npz").write_bytes(b"PK cut off")
    with pytest.raises(BadData, match=r"b\.npz is not a whole \.npz file"):
        check_first(options, SPEC, None)


@pytest.mark.parametrize(
    "second", [b"", b"PK no zip file", b"\x93NUMPY", centre_games(1) | {"reward": np.zeros(1)}, {"obs": np.zeros(2)}]
)
def test_a_bad_second_file_is_an_error_of_the_input(tmp_path: Path, second: Any) -> None:
    write(tmp_path / "a.npz", centre_games(2))
    if isinstance(second, bytes):
        (tmp_path / "b.npz").write_bytes(second)
    else:
        write(tmp_path / "b.npz", second)
    options = DatasetOptions(dataset=(str(tmp_path / "*.npz"),))
    with pytest.raises(BadData, match=r"b\.npz") as raised:
        Demonstrations(options, SPEC, gamma=1.0)
    assert failure_kind(raised.value) is Failure.BAD_INPUT, "it is not tried again"


def test_parquet_without_pyarrow_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "games.parquet").write_bytes(b"PAR1")
    with pytest.raises(BadData, match=r"pip install 'lanista\[parquet\]'"):
        list(read_source(str(tmp_path / "games.parquet"), None))


def test_parquet_columns_of_lists_take_the_games_shape(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    data = centre_games(5)
    rows = len(data["action"])
    columns = {name: pyarrow.array(data[name]) for name in ("action", "reward", "next_row", "game")}
    columns |= {name: pyarrow.array(list(data[name].reshape(rows, -1))) for name in ("obs", "legal")}
    parquet.write_table(pyarrow.table(columns), tmp_path / "games.parquet")
    (_, batch), *_ = read_source(str(tmp_path / "games.parquet"), None)
    fitted = fit(batch, SPEC, "the file")
    assert (fitted.columns["obs"] == data["obs"]).all()
    assert (fitted.columns["legal"] == data["legal"]).all()
    assert (fitted.next_row == data["next_row"]).all()
    assert rows_in(tmp_path / "games.parquet") == rows


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("obs", [[0.0] * 17, [0.0] * 19], "obs has lists of 17 to 19 values"),
        ("obs", [[[0.0] * 9] * 2, [[0.0] * 8, [0.0] * 10]], "obs has lists of 8 to 10 values"),
        ("obs", [[0.0] * 18, None], "obs has 1 empty values"),
        ("reward", [1.0, None], "reward has 1 empty values"),
        ("obs", [[0.0] * 18, [0.0] * 17 + [None]], "obs has 1 empty values"),
    ],
)
def test_parquet_columns_of_unequal_lists_are_refused(
    tmp_path: Path, column: str, values: list[Any], words: str
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"obs": [[0.0] * 18] * 2, "action": [0, 1], "reward": [0.0, 0.0], column: values}
    parquet.write_table(pyarrow.table(columns), tmp_path / "games.parquet")
    with pytest.raises(BadData, match=rf"games\.parquet: {words}"):
        list(read_source(str(tmp_path / "games.parquet"), None))


def test_parquet_columns_of_lists_within_lists_keep_their_shape(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    seen = np.arange(36, dtype=np.float32).reshape(2, 2, 9)
    columns = {"obs": seen.tolist(), "action": [0, 1], "reward": [0.0, 0.0]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "games.parquet")
    ((_, batch),) = read_source(str(tmp_path / "games.parquet"), None)
    assert (batch.columns["obs"] == seen).all()


def test_weights_say_how_often_each_entry_is_drawn(tmp_path: Path) -> None:
    few, many = centre_games(2), centre_games(60)
    few["reward"] = np.full(len(few["action"]), 7.0, np.float32)
    files = (write(tmp_path / "few.npz", few), write(tmp_path / "many.npz", many))
    options = DatasetOptions(dataset=files, dataset_weights=(3.0, 1.0), validation_share=0.0)
    drawn = Demonstrations(options, SPEC, gamma=1.0).draw(4000, np.random.default_rng(0))
    assert drawn is not None
    share = float(np.mean(np.asarray(drawn.columns["reward"]) == 7.0))
    assert 0.7 < share < 0.8, "three of four rows are of the small file"
    with pytest.raises(ValueError, match="1 weights for 2 entries"):
        DatasetOptions(dataset=files, dataset_weights=(1.0,))


@pytest.mark.parametrize("ahead", [1, 3, 50])
def test_batches_that_are_drawn_ahead_do_not_depend_on_who_is_faster(tmp_path: Path, ahead: int) -> None:
    options = DatasetOptions(dataset=(write(tmp_path / "games.npz", centre_games(20)),))
    data = Demonstrations(options, SPEC, gamma=1.0)
    runs = [
        [draw.ids.tolist() for draw in drawn_ahead(data, 8, np.random.default_rng(1), count=7, ahead=ahead)]
        for _ in range(2)
    ]
    assert runs[0] == runs[1] and len(runs[0]) == 7 and runs[0][0] != runs[0][1]
