"""Files of any place that fsspec knows: opened, read, and written whole or not at all."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fsspec
from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem

from orchestrator.storage.artifact_errors import (
    ArtifactError,
    ArtifactStoreFull,
    ArtifactStoreUnavailable,
    MissingArtifact,
)
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


@contextmanager
def asking(fs: AbstractFileSystem, path: str) -> Iterator[None]:
    """Raise what a file system raises as ArtifactStoreFull or ArtifactStoreUnavailable; FileNotFoundError stays.

    Clients of object stores also raise errors of their own, which are no OSError: botocore's for a connection that is
    refused or for an answer that is no HTTP. Taken for errors of user code, an outage would end trials. So whatever a
    remote store's client raises counts as an outage, a wrong option too.
    """
    try:
        yield
    except (ArtifactError, FileNotFoundError):
        raise
    except OSError as error:
        failure = ArtifactStoreFull if error.errno in _NO_SPACE else ArtifactStoreUnavailable
        raise failure(str(fs.unstrip_protocol(path)), error.strerror or str(error)) from error
    except Exception as error:
        if isinstance(fs, LocalFileSystem):
            raise
        reason = f"{type(error).__name__}: {error}"
        raise ArtifactStoreUnavailable(str(fs.unstrip_protocol(path)), reason) from error


def write_whole(fs: AbstractFileSystem, path: str, data: bytes | bytearray) -> None:
    """Write all of a file or nothing; raises ArtifactStoreFull or ArtifactStoreUnavailable."""
    try:
        with asking(fs, path):
            if isinstance(fs, LocalFileSystem):
                write_durably(Path(path), data)
            else:
                fs.pipe_file(path, data)  # one PUT: object stores are atomic per object
    except FileNotFoundError as error:  # the bucket, or the folder that was to be made
        raise ArtifactStoreUnavailable(str(fs.unstrip_protocol(path)), error.strerror or str(error)) from error


def read_file(fs: AbstractFileSystem, path: str, missing: MissingArtifact) -> bytes:
    """All of a file; raises `missing` or ArtifactStoreUnavailable."""
    try:
        with asking(fs, path):
            return bytes(fs.cat_file(path))
    except FileNotFoundError as error:
        raise missing from error
