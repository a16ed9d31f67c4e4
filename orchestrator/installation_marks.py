"""Marks in the root of a store of artifacts: who keeps theirs here. Artifacts themselves have no owner."""

from __future__ import annotations

import posixpath

from orchestrator.artifacts import open_filesystem, write_whole

MARKS = "installations"
"""The folder of the store's root where installations leave their marks."""


def leave_mark(root_url: str, name: str) -> None:
    """Make known that an installation of this name keeps artifacts here."""
    fs, root = open_filesystem(root_url)
    write_whole(fs, posixpath.join(root, MARKS, name), b"keeps artifacts here\n")


def marks_in(root_url: str) -> set[str]:
    """The names that were left."""
    fs, root = open_filesystem(root_url)
    folder = posixpath.join(root, MARKS)
    fs.invalidate_cache()
    found = fs.find(folder) if fs.exists(folder) else []
    return {posixpath.basename(path) for path in found if not path.endswith(".partial")}
