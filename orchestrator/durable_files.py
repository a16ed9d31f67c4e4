"""Files of a local disk that are whole and stay, whatever is killed or loses power."""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from pathlib import Path


def write_durably(path: Path, data: bytes) -> None:
    """Write beside the final name, flush to the disk, then rename: the name never shows half an artifact."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not named after the target: readers of a folder go by names, TensorBoard by a part of them.
    partial = path.with_name(f"{uuid.uuid4().hex}.partial")
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise
    _flush_directory(path.parent)


def _flush_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
