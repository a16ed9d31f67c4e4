"""Own code that a trial file names is packed with what it imports, and named by its archive."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from lanista.code_packing import code_folders, pack_code, with_code
from orchestrator.code_archives import BadArchive

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
