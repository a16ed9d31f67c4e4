"""Large artifacts lie in parts, each of a bounded size and named by its hash, beside an index that is written last:

    <kind>/<two digits>/<sha256>.parts/00000-<sha256 of the part>, 00001-..., index

Only `ArtifactStore` knows of them: a reference has the hash and the size of the whole, as for an artifact in one file.
The parts lie below the name of the whole, so that removing an artifact needs no count of who else uses a part.

See docs/decisions/checkpoints-and-artifacts.md.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

LARGE_BYTES = 64 << 20
"""An artifact above this size is stored in parts."""
PART_BYTES = 32 << 20
AT_ONCE = 4
"""Parts that one process reads or writes at the same time, and so about what it holds of them in memory."""
_FORMAT = 1
_FOLDER = ".parts"
_INDEX = "index"
_PART = re.compile(r"\d{5,}-[0-9a-f]{64}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
Block = bytes | bytearray | memoryview
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Part:
    """One of the parts."""

    number: int
    sha256: str
    size: int

    @property
    def name(self) -> str:
        return f"{self.number:05}-{self.sha256}"


@dataclass(frozen=True, kw_only=True)
class PartIndex:
    """What a large artifact is made of, in order."""

    sha256: str
    size: int
    parts: tuple[Part, ...]

    def encode(self) -> bytes:
        document = {
            "format": _FORMAT,
            "sha256": self.sha256,
            "size": self.size,
            "parts": [{"sha256": part.sha256, "size": part.size} for part in self.parts],
        }
        return json.dumps(document, separators=(",", ":")).encode()


def parse_index(data: bytes, sha256: str) -> PartIndex:
    """The index of the artifact with this hash; raises ValueError if it is none."""
    try:
        document: Any = json.loads(data)
        if document["format"] != _FORMAT:
            raise ValueError(f"format {document['format']!r}, this version reads {_FORMAT}")
        parts = tuple(
            Part(number=number, sha256=str(each["sha256"]), size=int(each["size"]))
            for number, each in enumerate(document["parts"])
        )
        index = PartIndex(sha256=str(document["sha256"]), size=int(document["size"]), parts=parts)
    except (KeyError, TypeError) as error:
        raise ValueError(f"it has no {error}") from None
    if index.sha256 != sha256:
        raise ValueError("it is another artifact's")
    if not all(_SHA256.fullmatch(part.sha256) for part in parts) or sum(part.size for part in parts) != index.size:
        raise ValueError("its parts do not make the whole")
    return index


def parts_folder(path: str) -> str:
    """Where the parts of the artifact with this path are."""
    return path + _FOLDER


def index_path(path: str) -> str:
    return posixpath.join(parts_folder(path), _INDEX)


def is_index(path: str) -> bool:
    return is_in_parts(path) and posixpath.basename(path) == _INDEX


def is_in_parts(path: str) -> bool:
    """Whether a file lies in a folder of parts."""
    return posixpath.dirname(path).endswith(_FOLDER)


def is_ours(path: str) -> bool:
    """Whether a file in a folder of parts is a part or the index."""
    name = posixpath.basename(path)
    return is_in_parts(path) and (name == _INDEX or bool(_PART.fullmatch(name)))


def removal_key(path: str) -> tuple[bool, str]:
    """Sorts the files of one artifact so that they may be removed in this order."""
    return not is_index(path), path


def whole_path(path: str) -> str:
    """The path of the artifact that a file, perhaps of a part, belongs to."""
    return posixpath.dirname(path).removesuffix(_FOLDER) if is_in_parts(path) else path


def cut(blocks: Iterable[Block], size: int) -> Iterator[bytearray]:
    """The same bytes in pieces of this size, the last one shorter; each is a copy."""
    held = bytearray()
    for block in blocks:
        rest = memoryview(block).cast("B")
        while len(rest):
            taken = min(size - len(held), len(rest))
            held += rest[:taken]
            rest = rest[taken:]
            if len(held) == size:
                yield held
                held = bytearray()
    if held:
        yield held


def in_parallel(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """The results in the order of the items, of which at most `AT_ONCE` are worked on or wait to be taken."""
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="parts") as pool:
        under_way: list[Future[Result]] = []
        try:
            for item in items:
                under_way.append(pool.submit(work, item))
                del item  # a piece that is written must not stay in memory for the next one
                if len(under_way) == AT_ONCE:
                    yield under_way.pop(0).result()
            while under_way:
                yield under_way.pop(0).result()
        finally:
            for each in under_way:
                each.cancel()
