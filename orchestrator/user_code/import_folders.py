"""Folders from which weights and data may be read by their path: no trial file makes a worker read any other file."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path


class NotImportable(ValueError):
    """The path leads outside the allowed folders, or names no file there."""


def parse_folders(setting: str) -> tuple[Path, ...]:
    """The folders of the setting, which separates them by commas."""
    return tuple(Path(os.path.abspath(part.strip())) for part in setting.split(",") if part.strip())


def check_named(source: str, folders: Sequence[Path]) -> None:
    """Refuse a path that leads outside, by its text alone: the process that checks may not have the worker's disk."""
    if not any(_inside(Path(os.path.normpath(folder / source)), folder) for folder in folders):
        raise NotImportable(_outside(source, folders))


def find_import(source: str, folders: Sequence[Path]) -> Path:
    """The file, links resolved; a relative path is looked up in each folder in turn."""
    inside = [
        path
        for folder in folders
        if _inside(path := (folder / source).resolve(), folder.resolve())  # an absolute path replaces the folder
    ]
    if not inside:
        raise NotImportable(_outside(source, folders))
    found = next((path for path in inside if path.is_file()), None)
    if found is None:
        raise NotImportable(f"there is no file {source!r} in {_listed(folders)}")
    return found


def find_imports(pattern: str, folders: Sequence[Path]) -> list[Path]:
    """The files of a path or pattern, links resolved, by name; those of the first folder that has any."""
    check_named(pattern, folders)
    for folder in folders:
        text = os.path.normpath(folder / pattern)
        found = sorted({path for name in glob.glob(text) if (path := Path(name).resolve()).is_file()})
        outside = [path for path in found if not any(_inside(path, each.resolve()) for each in folders)]
        if outside:
            raise NotImportable(_outside(str(outside[0]), folders))
        if found:
            return found
    raise NotImportable(f"there is no file {pattern!r} in {_listed(folders)}")


def _inside(path: Path, folder: Path) -> bool:
    return path != folder and path.is_relative_to(folder)


def _outside(source: str, folders: Sequence[Path]) -> str:
    return (
        f"{source!r} lies outside the folders from which weights and data may be imported: {_listed(folders)} "
        "(LANISTA_IMPORT_FOLDERS). Weights can be uploaded: `lanista model import`, and give the version's id"
    )


def _listed(folders: Sequence[Path]) -> str:
    return ", ".join(map(str, folders)) or "none"
