"""Own code that a trial file names is packed with what it imports, and named by its archive."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from lanista.client.code_packing import LARGEST_FILE, code_folders, pack_code, with_code
from orchestrator.user_code.code_archives import BadArchive

SPEC = {
    "game": {"id": "my_game:Nim", "most": 9},
    "model": {"id": "mlp"},
    "league": {"preset": "self_play", "players": [{"name": "main"}, {"name": "b", "bot": "bots.simple:Bot"}]},
    "budget": {"until": {"opponent": "bots.simple:Bot"}},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_game.py").write_text("import numpy, json\nfrom helper import X\n")
    (tmp_path / "helper.py").write_text("def late():\n    import other\n")
    (tmp_path / "other.py").write_text("")
    (tmp_path / "json.py").write_text("raise ValueError('a folder never hides the standard library')")
    (tmp_path / "unrelated.py").write_text("")
    (tmp_path / "bots").mkdir()
    for name, text in {"__init__.py": "", "simple.py": "from . import data", "data.txt": "x"}.items():
        (tmp_path / "bots" / name).write_text(text)
    return tmp_path


def test_a_module_is_packed_with_what_it_imports(folder: Path) -> None:
    code = pack_code(SPEC, [folder])
    assert code is not None
    packed = zipfile.ZipFile(io.BytesIO(code.data)).namelist()
    assert packed == ["bots/__init__.py", "bots/data.txt", "bots/simple.py", "helper.py", "my_game.py", "other.py"]


def test_names_are_those_of_the_archive(folder: Path) -> None:
    code = pack_code(SPEC, [folder])
    assert code is not None
    named = with_code(SPEC, code)
    prefix = f"lanista_code_{code.sha256}"
    assert named["game"] == {"id": f"{prefix}.my_game:Nim", "most": 9} and named["model"] == {"id": "mlp"}
    assert [player.get("bot") for player in named["league"]["players"]] == [None, f"{prefix}.bots.simple:Bot"]
    assert named["budget"]["until"]["opponent"] == f"{prefix}.bots.simple:Bot"
    (folder / "other.py").write_text("edited = True")
    again = pack_code(SPEC, [folder])
    assert again is not None and again.sha256 != code.sha256


def test_agents_of_games_that_call_in_are_packed(folder: Path) -> None:
    agents = {"red": "my_game:Red", "blue": [{"id": "bots.simple:Blue", "options": {"x": 1}}, "generic"]}
    spec = {"game": {"id": "remote", "agent": agents}}
    code = pack_code(spec, [folder])
    assert code is not None and {"my_game", "bots"} <= code.modules
    prefix = f"lanista_code_{code.sha256}"
    assert with_code(spec, code)["game"]["agent"] == {
        "red": f"{prefix}.my_game:Red",
        "blue": [{"id": f"{prefix}.bots.simple:Blue", "options": {"x": 1}}, "generic"],
    }


def test_names_of_the_catalog_and_data_files_are_not_those_of_modules(folder: Path) -> None:
    for module in ("mlp", "games"):
        (folder / f"{module}.py").write_text("")
    named = {"game": {"id": "my_game:Nim", "env": "games/x:Y"}, "model": {"id": "mlp"}}
    spec = named | {"algorithm": {"id": "mlp:Own", "dataset": ["games.parquet", "games:rows"]}}
    code = pack_code(spec, [folder])
    assert code is not None and {"mlp", "games"} <= code.modules
    prefix, renamed = f"lanista_code_{code.sha256}", with_code(spec, code)
    assert renamed["model"] == {"id": "mlp"} and renamed["game"]["env"] == "games/x:Y"
    assert renamed["algorithm"] == {"id": f"{prefix}.mlp:Own", "dataset": ["games.parquet", f"{prefix}.games:rows"]}


def test_the_function_that_draws_recorded_games_is_packed(folder: Path) -> None:
    spec = {"game": {"id": "remote", "dump": {"every": 10, "render": "other:draw"}}}
    code = pack_code(spec, [folder])
    assert code is not None and code.modules == {"other"}
    assert with_code(spec, code)["game"]["dump"] == {"every": 10, "render": f"lanista_code_{code.sha256}.other:draw"}


def test_what_is_left_out_is_listed(folder: Path) -> None:
    code = pack_code(SPEC, [folder])
    assert code is not None and code.left_out == ()
    (folder / "bots" / "table.bin").write_bytes(bytes(LARGEST_FILE + 1))
    (folder / "bots" / "linked.txt").symlink_to(folder / "bots" / "data.txt")
    for name in ("cards.json", "boards", "notes.txt"):
        (folder / name).mkdir() if name == "boards" else (folder / name).write_text("")
    (folder / "helper.py").write_text("import pathlib\nX = [pathlib.Path('cards.json'), 'boards/first.txt', 'bots']\n")
    code = pack_code(SPEC, [folder])
    assert code is not None
    linked, table, boards, cards = sorted(code.left_out, key=lambda line: ("helper.py" in line, line))
    assert "linked.txt: a symbolic link" in linked and "table.bin: 1,048,577 bytes" in table
    assert boards.startswith("boards: helper.py names it") and cards.startswith("cards.json: helper.py names it")


def test_what_is_not_found_keeps_its_name(tmp_path: Path) -> None:
    assert pack_code({"game": {"id": "installed_package:Game"}}, [tmp_path]) is None
    assert pack_code({"game": {"id": "connect_four"}}, [tmp_path]) is None


def test_a_file_that_is_not_python_is_named(folder: Path) -> None:
    (folder / "other.py").write_text("def broken(:\n")
    with pytest.raises(BadArchive, match=r"other\.py is not Python"):
        pack_code(SPEC, [folder])


def test_modules_are_looked_for_beside_the_file_here_and_on_pythonpath(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, beside, named = (tmp_path / name for name in ("here", "beside", "named"))
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("PYTHONPATH", str(named))
    assert code_folders(beside / "trial.yaml") == [beside, here, named]
    assert code_folders() == [here, named]
