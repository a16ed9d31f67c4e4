"""Packages that own code names: they travel with its archive, and each node is checked before the code runs."""

from __future__ import annotations

import socket
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest

from orchestrator.catalog import BrokenTarget, Kind, load
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code import code_archives, code_importing, package_installing
from orchestrator.user_code.code_archives import BadArchive, archived_name, pack
from orchestrator.user_code.packages import BadPackages, packages_of

NAME = "lanista_test_dice"
WHEEL = f"{NAME}-1.2-py3-none-any.whl"


def module(*packages: str, body: str = "class Game: pass") -> dict[str, bytes]:
    listed = ", ".join(f'"{package}"' for package in packages)
    return {"mine.py": f"# /// script\n# dependencies = [{listed}]\n# ///\n{body}\n".encode()}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ArtifactStore]:
    (tmp_path / "code").mkdir()
    monkeypatch.setattr(code_importing, "_private_folder", lambda: tmp_path / "code")
    monkeypatch.setattr(sys, "path", [*sys.path])
    made = ArtifactStore(str(tmp_path / "artifacts"))
    code_importing.import_archives_from(made)
    yield made
    for name in [name for name in sys.modules if name.startswith((code_archives.PACKAGE, NAME))]:
        del sys.modules[name]


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one package, and pip told to look nowhere else."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    about = f"{NAME}-1.2.dist-info"
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        wheel.writestr(f"{NAME}.py", "SIDES = 6\n")
        wheel.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.2\nRequires-Dist: numpy\n"
        )
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", f"{NAME}.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def load_it(store: ArtifactStore, files: dict[str, bytes]) -> type:
    sha256 = store.put(pack(files), kind=code_archives.KIND).sha256
    made: type = load(Kind.GAME, archived_name(sha256, "mine:Game"))
    return made


def test_the_packages_of_all_modules_are_found_once() -> None:
    files = module("pygame==2.6.1", "numpy >= 2, < 3") | {"two.py": module("pygame==2.6.1", "a[b,c]")["mine.py"]}
    assert packages_of(files) == ("a[b,c]", "numpy >= 2, < 3", "pygame==2.6.1")
    assert packages_of({"x.py": b"print(1)\n", "data.txt": module("pygame")["mine.py"]}) == ()
    assert packages_of({"x.py": module("pygame")["mine.py"].replace(b"\n", b"\r\n")}) == ("pygame",)


@pytest.mark.parametrize(
    "package",
    [
        "--index-url=http://evil",
        "-r requirements.txt",
        "x @ https://evil/x.whl",
        "git+https://evil/x",
        "./local",
        "../x",
        "x; os_name=='posix'",
        "x==1 --hash=sha256:0",
        "x == 1; rm -rf /",
        "x\\n-e .",
        "",
        "x==",
        "x y",
    ],
)
def test_what_is_no_plain_package_is_refused_before_it_is_stored(package: str) -> None:
    with pytest.raises(BadPackages, match=r"mine\.py: .* is no package as it is allowed"):
        packages_of(module(package))
    with pytest.raises(BadArchive, match="no URL, path, marker or option"):
        pack(module(package))


def test_metadata_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(BadPackages, match="no TOML"):
        packages_of({"a.py": b"# /// script\n# dependencies = [\n# ///\n"})
    with pytest.raises(BadPackages, match="a list of texts"):
        packages_of({"a.py": b'# /// script\n# dependencies = "x"\n# ///\n'})
    with pytest.raises(BadPackages, match="2 blocks"):
        packages_of({"a.py": module("x")["mine.py"] + b"\n" + module("y")["mine.py"]})
    with pytest.raises(BadPackages, match="51 packages are too many"):
        packages_of(module(*(f"x{number}" for number in range(51))))


def test_code_runs_where_its_packages_are_installed(store: ArtifactStore) -> None:
    assert load_it(store, module("numpy>=1", "torch")).__name__ == "Game"


def test_a_node_that_lacks_packages_is_named_with_what_to_install(store: ArtifactStore) -> None:
    wanted = module("numpy>=2", "numpy<1", f"{NAME}==1.2", body="raise SystemExit('it ran')")
    with pytest.raises(BrokenTarget) as refused:
        load_it(store, wanted)
    said = str(refused.value)
    assert f"node {socket.gethostname()} lacks packages" in said and "it ran" not in said
    assert f"{NAME}==1.2 (not installed)" in said and f"numpy<1 ({numpy.__version__} is installed)" in said
    assert f"-m pip install {NAME}==1.2 'numpy<1'" in said or f"-m pip install 'numpy<1' {NAME}==1.2" in said
    assert "LANISTA_INSTALL_PACKAGES=true" in said and "numpy>=2 (" not in said


def test_packages_are_installed_where_that_is_allowed(
    store: ArtifactStore, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANISTA_INSTALL_PACKAGES", "true")
    body = f"import {NAME}, numpy\nclass Game:\n    sides, numbers = {NAME}.SIDES, numpy.__file__"
    before = sys.path[:]
    made = load_it(store, module(f"{NAME}==1.2", body=body))
    assert made.sides == 6 and made.numbers == numpy.__file__, "what is installed is not installed again"
    assert sys.path[: len(before)] == before and len(sys.path) == len(before) + 1, "it comes last"
    (folder,) = (found for found in (tmp_path / "code").glob("packages-*") if found.is_dir())
    assert not list(folder.rglob("numpy"))

    (wheels / WHEEL).unlink()
    monkeypatch.setattr(sys, "path", before)
    assert load_it(store, module(f"{NAME}==1.2", body=body + "\n")).sides == 6, "once for each list of packages"


def test_a_failed_installation_is_told_and_tried_again(
    store: ArtifactStore, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANISTA_INSTALL_PACKAGES", "true")
    with pytest.raises(BrokenTarget, match=r"(?s)cannot be installed: .*No matching distribution"):
        load_it(store, module(f"{NAME}==9"))
    hidden = (wheels / WHEEL).rename(wheels / "hidden")
    with pytest.raises(BrokenTarget, match="cannot be installed"):
        load_it(store, module(NAME))
    hidden.rename(wheels / WHEEL)
    assert load_it(store, module(NAME)).__name__ == "Game"


def test_what_is_installed_is_never_replaced(store: ArtifactStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANISTA_INSTALL_PACKAGES", "true")
    monkeypatch.setattr(package_installing, "_install", lambda *_: pytest.fail("pip was called"))
    with pytest.raises(BrokenTarget, match=r"torch<2 \(.* is installed\).* is never replaced"):
        load_it(store, module("torch<2"))
