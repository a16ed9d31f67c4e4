"""Archives of users' own code: the same bytes for the same files, imported by their hash, several versions at once."""

from __future__ import annotations

import importlib
import io
import pickle
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError

from orchestrator.catalog import Kind, load
from orchestrator.contracts.errors import Failure
from orchestrator.storage.artifacts import ArtifactStore, ArtifactStoreUnavailable
from orchestrator.user_code import code_archives, code_importing
from orchestrator.user_code.code_archives import BadArchive, archived_name, check_archive, pack, plain_name
from orchestrator.user_code.code_importing import MissingArchive
from workers.activities.failures import map_errors
from workers.buffers.data_files import read_source
from workers.games.adapters.environments import factory

GAME = (
    b"import helper\nfrom rules.win import LINES\n\ndef late():\n    import helper as again\n    return again.VALUE\n"
)
FILES = {
    "my_game.py": GAME + b"class Nim:\n    size = helper.VALUE\n",
    "helper.py": b"VALUE = 1\n",
    "rules/__init__.py": b"",
    "rules/win.py": b"from . import draw\nfrom helper import VALUE\nimport rules.draw\nLINES = VALUE + rules.draw.D\n",
    "rules/draw.py": b"D = 10\n",
}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ArtifactStore]:
    monkeypatch.setattr(code_importing, "_private_folder", lambda: tmp_path)
    made = ArtifactStore(str(tmp_path / "artifacts"))
    code_importing.import_archives_from(made)
    yield made
    for name in [name for name in sys.modules if name.startswith(code_archives.PACKAGE)]:
        del sys.modules[name]


def put(store: ArtifactStore, **changed: bytes) -> str:
    files = {**FILES, **{f"{name}.py": text for name, text in changed.items()}}
    return store.put(pack(files), kind=code_archives.KIND).sha256


def test_equal_files_are_one_archive() -> None:
    assert pack(FILES) == pack(dict(reversed(FILES.items()))) != pack({**FILES, "helper.py": b"VALUE = 2\n"})


def test_two_versions_of_one_module_live_side_by_side(store: ArtifactStore) -> None:
    first, second = put(store), put(store, helper=b"VALUE = 2\n")
    old, new = (load(Kind.GAME, archived_name(each, "my_game:Nim")) for each in (first, second))
    assert (old.size, new.size) == (1, 2)
    modules = [importlib.import_module(f"{code_archives.PACKAGE}{each}.my_game") for each in (first, second)]
    assert [module.LINES for module in modules] == [11, 12]
    assert [module.late() for module in modules] == [1, 2], "an import inside a function finds its own archive"
    assert "helper" not in sys.modules and "my_game" not in sys.modules


def test_classes_of_an_archive_pickle(store: ArtifactStore) -> None:
    made = load(Kind.GAME, archived_name(put(store), "my_game:Nim"))()
    assert pickle.loads(pickle.dumps(made)).size == 1


def test_names_are_shown_as_they_were_written() -> None:
    sha = "a" * 64
    assert plain_name(archived_name(sha, "pkg.my_game:Nim")) == "pkg.my_game:Nim" == plain_name("pkg.my_game:Nim")
    assert code_archives.archive_of(archived_name(sha, "x:Y")) == sha and code_archives.archive_of("x:Y") is None


def test_an_archive_that_is_not_there_says_so(store: ArtifactStore) -> None:
    with pytest.raises(MissingArchive, match=f"{'a' * 64} cannot be fetched: .* is missing"):
        importlib.import_module(f"{code_archives.PACKAGE}{'a' * 64}.my_game")


@pytest.mark.parametrize("outage", [ArtifactStoreUnavailable("s3://bucket", "timed out"), OSError(28, "no space left")])
def test_an_outage_of_the_store_is_no_fault_of_the_code(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch, outage: Exception
) -> None:
    name = archived_name(put(store), "my_game:Nim")

    def away(data: bytes) -> Path:
        raise outage

    with monkeypatch.context() as patched:
        patched.setattr(code_importing, "unpacked", away)
        for load_it in (
            lambda: load(Kind.GAME, name),
            lambda: factory(name, object),
            lambda: [*read_source(name, None)],
        ):
            with pytest.raises(ApplicationError) as failed, map_errors():
                load_it()
            assert failed.value.type == Failure.STORE_UNAVAILABLE and not failed.value.non_retryable
    assert load(Kind.GAME, name).size == 1


def test_files_that_a_cleaner_removed_are_unpacked_again(tmp_path: Path) -> None:
    folder = code_importing.unpacked(pack(FILES), tmp_path)
    for path in ("helper.py", "rules/draw.py"):
        (folder / path).unlink()
    assert code_importing.unpacked(pack(FILES), tmp_path) == folder
    assert {path: (folder / path).read_bytes() for path in FILES} == FILES
    assert list(tmp_path.iterdir()) == [folder], "no part is left"


@pytest.mark.parametrize("path", ["../evil.py", "/etc/evil.py", "a/../../evil.py", "folder/"])
def test_paths_that_lead_outside_are_refused(path: str) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("fine.py", b"")
        archive.writestr(path, b"")
    with pytest.raises(BadArchive, match="relative paths of plain files"):
        check_archive(packed.getvalue())


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"notes.txt": b"hello"}, "no Python file"),
        ({f"m{n}.py": b"" for n in range(2_001)}, "2,001 files are too many"),
    ],
)
def test_archives_of_no_use_are_refused(files: dict[str, bytes], why: str) -> None:
    with pytest.raises(BadArchive, match=why):
        pack(files)
    with pytest.raises(BadArchive, match="not a zip archive"):
        check_archive(b"PK no")
