"""Marks in an artifact store that name the installations using it; artifacts themselves have no owner."""

from __future__ import annotations

import posixpath

from orchestrator.storage.artifacts import open_filesystem, write_whole

MARKS = "installations"
"""The folder, below the store's root, of the marks."""


def leave_mark(root_url: str, name: str) -> None:
    """Write the mark of an installation."""
    fs, root = open_filesystem(root_url)
    write_whole(fs, posixpath.join(root, MARKS, name), b"keeps artifacts here\n")


def marks_in(root_url: str) -> set[str]:
    """The names of the installations that use the store."""
    fs, root = open_filesystem(root_url)
    folder = posixpath.join(root, MARKS)
    fs.invalidate_cache()
    found = fs.find(folder) if fs.exists(folder) else []
    return {posixpath.basename(path) for path in found if not path.endswith(".partial")}
