"""Files of a local disk: written atomically and durably, so that they survive kills and power loss; read whole."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def write_durably(path: Path, data: bytes | bytearray) -> None:
    """Write to a temporary name, flush to the disk, then rename: readers never see a partial file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with durable_file(path) as file:
        file.write(data)


@contextmanager
def durable_file(path: Path) -> Iterator[BinaryIO]:
    """A temporary file beside the target, whose folder exists: renamed at the end, removed after an error."""
    # not named after the target: TensorBoard reads every file whose name contains a certain part
    partial = path.with_name(f"{uuid.uuid4().hex}.partial")
    try:
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise
    _flush_directory(path.parent)


def read_whole(path: Path) -> bytearray:
    """All of a file in one piece of memory, which tensors may be views of."""
    with path.open("rb", buffering=0) as file:
        data = bytearray(os.fstat(file.fileno()).st_size)
        rest = memoryview(data)
        while rest and (count := file.readinto(rest)):
            rest = rest[count:]
    if rest:
        raise OSError(f"{path} became shorter while it was read")
    return data


def _flush_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
