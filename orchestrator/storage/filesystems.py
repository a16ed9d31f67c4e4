"""Files of any place that fsspec knows: opened, read, and written whole or not at all."""

from __future__ import annotations

import errno
from pathlib import Path

import fsspec
from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem

from orchestrator.storage.artifact_errors import ArtifactStoreFull, ArtifactStoreUnavailable, MissingArtifact
from orchestrator.storage.durable_files import write_durably

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


def open_filesystem(url: str) -> tuple[AbstractFileSystem, str]:
    """The file system of a folder or URL, and the path on it.

    Listings are not cached: an object store would never show what other processes put.
    """
    try:
        try:
            fs, path = fsspec.core.url_to_fs(url, use_listings_cache=False)
        except TypeError:  # some pass every option on to a client that does not know this one, and cache no listings
            fs, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise ArtifactStoreUnavailable(url, str(error)) from error
    return fs, str(path).rstrip("/")


def write_whole(fs: AbstractFileSystem, path: str, data: bytes | bytearray) -> None:
    """Write all of a file or nothing; raises ArtifactStoreFull or ArtifactStoreUnavailable."""
    try:
        if isinstance(fs, LocalFileSystem):
            write_durably(Path(path), data)
        else:
            fs.pipe_file(path, data)  # one PUT: object stores are atomic per object
    except OSError as error:
        failure = ArtifactStoreFull if error.errno in _NO_SPACE else ArtifactStoreUnavailable
        raise failure(str(fs.unstrip_protocol(path)), error.strerror or str(error)) from error


def read_file(fs: AbstractFileSystem, path: str, missing: MissingArtifact) -> bytes:
    """All of a file; raises `missing` or ArtifactStoreUnavailable."""
    try:
        return bytes(fs.cat_file(path))
    except FileNotFoundError as error:
        raise missing from error
    except OSError as error:
        raise ArtifactStoreUnavailable(str(fs.unstrip_protocol(path)), error.strerror or str(error)) from error
