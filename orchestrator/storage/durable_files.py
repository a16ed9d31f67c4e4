"""Atomic, durable writes to a local disk: they survive kills and power loss."""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from pathlib import Path


def write_durably(path: Path, data: bytes | bytearray) -> None:
    """Write to a temporary name, flush to the disk, then rename: readers never see a partial file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # not named after the target: TensorBoard reads every file whose name contains a certain part
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
