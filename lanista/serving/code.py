"""Own code of a version: archives that its trial recorded are downloaded, and imported by their hash.

See docs/decisions/user-code.md.
"""

from __future__ import annotations

import re
from pathlib import Path

from lanista.client import Client
from league.types import CheckpointRef
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code.code_archives import KIND, PACKAGE
from orchestrator.user_code.code_importing import archive_store, import_archives_from

_NAMED = re.compile(rf"{PACKAGE}([0-9a-f]{{64}})\b".encode())


class CodeArchives:
    """Archives in a folder. The process imports what they hold; nothing is imported before a version needs it."""

    def __init__(self, folder: Path) -> None:
        self._store = archive_store() or ArtifactStore(str(folder))
        import_archives_from(self._store)

    def fetch(self, client: Client, checkpoint: bytes | bytearray) -> None:
        """Download the archives that a checkpoint names, unless they are here."""
        for sha256 in archives_of(checkpoint):
            ref = CheckpointRef(uri=f"{KIND}/{sha256[:2]}/{sha256}", sha256=sha256, size=0)
            if not self._store.exists(ref):
                self._store.put(client.code_archive(sha256), kind=KIND)


def archives_of(checkpoint: bytes | bytearray) -> list[str]:
    """Hashes of the archives that a checkpoint's metadata name."""
    size = int.from_bytes(checkpoint[:8], "little")  # of the header, which comes first in a safetensors file
    return sorted({found.decode() for found in _NAMED.findall(checkpoint[8 : 8 + size])})
