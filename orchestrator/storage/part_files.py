"""The files of artifacts in parts, on a file system: written, read and checked a few at a time."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterable, Iterator

from fsspec import AbstractFileSystem

from league.types import CheckpointRef
from orchestrator.storage import parts
from orchestrator.storage.artifact_errors import DamagedArtifact, MissingArtifact
from orchestrator.storage.filesystems import asking, read_file, write_whole
from orchestrator.storage.node_cache import NodeCache
from orchestrator.storage.parts import Block, Part, PartIndex


class PartFiles:
    """Reads and writes artifacts in parts. A path is that which the artifact would have in one file."""

    def __init__(self, fs: AbstractFileSystem) -> None:
        self._fs = fs

    def write(self, path: str, blocks: Iterable[Block], sha256: str) -> None:
        """Write all parts, then the index; raises ValueError if the blocks are not those of this hash."""
        whole = hashlib.sha256()

        def pieces() -> Iterator[tuple[int, bytearray]]:
            for number, piece in enumerate(parts.cut(blocks, parts.PART_BYTES)):
                whole.update(piece)
                yield number, piece

        def write(numbered: tuple[int, bytearray]) -> Part:
            number, piece = numbered
            part = Part(number=number, sha256=hashlib.sha256(piece).hexdigest(), size=len(piece))
            write_whole(self._fs, posixpath.join(parts.parts_folder(path), part.name), piece)
            return part

        written = tuple(parts.in_parallel(write, pieces()))
        if whole.hexdigest() != sha256:
            raise ValueError(f"the content of {sha256} has changed while it was stored")
        index = PartIndex(sha256=sha256, size=sum(part.size for part in written), parts=written)
        write_whole(self._fs, parts.index_path(path), index.encode())  # last: without it there is no artifact

    def index(self, path: str, ref: CheckpointRef) -> PartIndex | None:
        """The index of an artifact; None where it does not lie in parts. A size of 0 in the reference is not known."""
        uri = self._uri(path)
        try:
            data = read_file(self._fs, parts.index_path(path), MissingArtifact(uri, ref.sha256))
        except MissingArtifact:
            return None
        try:
            index = parts.parse_index(data, ref.sha256)
            if ref.size and index.size != ref.size:
                raise ValueError("its size is another")
        except ValueError:
            found = hashlib.sha256(data).hexdigest()
            raise DamagedArtifact(uri, ref.sha256, found, len(data), len(data), "index") from None
        return index

    def blocks(self, path: str, index: PartIndex, cache: NodeCache | None) -> Iterator[bytes]:
        """The parts in order, each checked by its hash, and in the end all of them by the hash of the whole."""
        uri, whole, folder = self._uri(path), hashlib.sha256(), parts.parts_folder(path)

        def read(part: Part) -> bytes:
            def pull() -> bytes:
                missing = MissingArtifact(uri, index.sha256, part.name)
                data = read_file(self._fs, posixpath.join(folder, part.name), missing)
                if (found := hashlib.sha256(data).hexdigest()) != part.sha256:
                    raise DamagedArtifact(uri, index.sha256, found, part.size, len(data), part.name)
                return data

            return pull() if cache is None else cache.get(part.sha256, part.size, pull)

        for block in parts.in_parallel(read, index.parts):
            whole.update(block)
            yield block
        if (found := whole.hexdigest()) != index.sha256:
            raise DamagedArtifact(uri, index.sha256, found, index.size, index.size)

    def size(self, path: str, sha256: str) -> int:
        """The size of an artifact, by its index, or where that is damaged, by its files."""
        try:
            index = self.index(path, CheckpointRef(uri=path, sha256=sha256, size=0))
        except DamagedArtifact:
            return sum(self.sizes(path).values())
        return 0 if index is None else index.size

    def sizes(self, path: str) -> dict[str, int]:
        """The sizes of the files of an artifact, by path."""
        self._fs.invalidate_cache()  # some file systems cache listings in spite of the option
        with asking(self._fs, path):
            found = self._fs.find(parts.parts_folder(path), detail=True)
        return {name: int(info["size"]) for name, info in found.items()}

    def _uri(self, path: str) -> str:
        return str(self._fs.unstrip_protocol(path))
