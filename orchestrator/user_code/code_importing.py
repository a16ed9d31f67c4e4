"""Imports users' own code from archives, under a package named after the archive's hash.

A process that has called `import_archives_from` can import `lanista_code_<sha256>.my_game`: the finder fetches the
archive from that store and unpacks it once. Several versions of one module can be loaded in one process. Absolute
imports between modules of an archive find each other, since each module gets an `__import__` of its own.

See docs/decisions/user-code.md.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib
import io
import os
import shutil
import stat
import sys
import tempfile
import threading
import zipfile
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from league.types import CheckpointRef
from orchestrator.storage.artifacts import ArtifactError, ArtifactStore, ArtifactStoreUnavailable
from orchestrator.user_code.code_archives import KIND, PACKAGE, check_archive, modules_of
from orchestrator.user_code.package_installing import require_packages


class MissingArchive(ImportError):
    """There is no such archive, or no store to fetch it from. An outage is an ArtifactStoreUnavailable instead."""


def import_archives_from(store: ArtifactStore) -> None:
    """Fetch archives from this store, in this process; the newest call counts."""
    _FINDER.store = store
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)  # before PathFinder, which would load the same files without `_Loader`


def archive_store() -> ArtifactStore | None:
    """The store that this process fetches archives from."""
    return _FINDER.store


def unpacked(data: bytes, folder: Path | None = None) -> Path:
    """The folder with the archive's files, unpacked once for all processes of this user.

    Files that were removed since, as by a cleaner of the temporary folder, are unpacked again.
    """
    paths = check_archive(data)
    home = folder or _private_folder()
    target = home / hashlib.sha256(data).hexdigest()
    if all((target / path).is_file() for path in paths):
        return target
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=home))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for path in paths:
            (part / path).parent.mkdir(parents=True, exist_ok=True)
            (part / path).write_bytes(archive.read(path))
    try:
        part.rename(target)
    except OSError:  # another process was first, or files were deleted
        for path in paths:
            if not (target / path).is_file():
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                (part / path).replace(target / path)
        shutil.rmtree(part, ignore_errors=True)
    return target


def _private_folder() -> Path:
    """A folder that only this user can write: what lies in it is executed."""
    folder = Path(tempfile.gettempdir()) / f"lanista-code-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o022:
        raise MissingArchive(f"{folder} belongs to another user, or others can write it: remove it")
    return folder


class _Finder(MetaPathFinder):
    """Finds the packages of archives and the modules below them."""

    def __init__(self) -> None:
        self.store: ArtifactStore | None = None
        self._lock = threading.Lock()

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if not fullname.startswith(PACKAGE):
            return None
        package, _, below = fullname.partition(".")
        if not below:
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [str(self._fetched(package.removeprefix(PACKAGE)))]
            return spec
        for folder in path or ():
            found = _module_spec(fullname, Path(folder), package)
            if found is not None:
                return found
        return None

    def _fetched(self, sha256: str) -> Path:
        if self.store is None:
            raise MissingArchive(f"this process has no store to fetch the code archive {sha256} from")
        # the store finds an artifact by the end of its uri
        ref = CheckpointRef(uri=f"{KIND}/{sha256[:2]}/{sha256}", sha256=sha256, size=0)
        try:
            with self._lock:
                folder = unpacked(self.store.get(ref))
                require_packages(folder, folder.parent)
                return folder
        except ArtifactStoreUnavailable:
            raise  # an outage is retried; it is no fault of the code
        except OSError as error:
            raise ArtifactStoreUnavailable(ref.uri, f"cannot be unpacked: {error}") from error
        except ArtifactError as error:
            raise MissingArchive(f"the code archive {sha256} cannot be fetched: {error}") from error


def _module_spec(fullname: str, folder: Path, package: str) -> ModuleSpec | None:
    name = fullname.rpartition(".")[2]
    root = Path(*folder.parts[: folder.parts.index(package.removeprefix(PACKAGE)) + 1])
    inside, file = folder / name, folder / f"{name}.py"
    if (inside / "__init__.py").is_file():
        loader = _Loader(fullname, str(inside / "__init__.py"), package, root)
        return spec_from_file_location(fullname, loader.path, loader=loader, submodule_search_locations=[str(inside)])
    if file.is_file():
        loader = _Loader(fullname, str(file), package, root)
        return spec_from_file_location(fullname, loader.path, loader=loader)
    if inside.is_dir():
        spec = ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = [str(inside)]
        return spec
    return None


class _Loader(SourceFileLoader):
    """Loads a module of an archive, whose absolute imports look into the archive first."""

    def __init__(self, fullname: str, path: str, package: str, root: Path) -> None:
        super().__init__(fullname, path)
        self._package = package
        self._modules = modules_of([entry.name for entry in root.iterdir()])

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
        super().exec_module(module)

    def _import(self, name: str, scope: Any = None, local: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        top = name.partition(".")[0]
        if level or top not in self._modules:
            return builtins.__import__(name, scope, local, fromlist, level)
        found = importlib.import_module(f"{self._package}.{name}")
        if fromlist:
            return builtins.__import__(f"{self._package}.{name}", scope, local, fromlist, 0)
        return sys.modules[f"{self._package}.{top}"] if "." in name else found


_FINDER = _Finder()
