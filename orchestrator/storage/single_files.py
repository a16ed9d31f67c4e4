"""Large artifacts that lie in one file, as releases before the parts of `parts.py` stored them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from league.types import CheckpointRef
from orchestrator.storage import parts
from orchestrator.storage.artifact_errors import ArtifactStoreUnavailable, DamagedArtifact, MissingArtifact


def checked_blocks(path: Path, uri: str, ref: CheckpointRef) -> Iterator[bytes]:
    """The blocks of a local file. It is read twice, first for its hash: no block of a damaged one is handed out."""
    try:
        with path.open("rb") as file:
            whole, size = hashlib.sha256(), 0
            for block in _blocks(file):
                whole.update(block)
                size += len(block)
            if (found := whole.hexdigest()) != ref.sha256:
                raise DamagedArtifact(uri, ref.sha256, found, ref.size, size)
            file.seek(0)
            yield from _blocks(file)
    except FileNotFoundError as error:
        raise MissingArtifact(uri, ref.sha256) from error
    except OSError as error:
        raise ArtifactStoreUnavailable(uri, error.strerror or str(error)) from error


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(parts.PART_BYTES):
        yield block
