"""Recorded games of outside processes: files beside the artifacts, by trial, the newest kept.

A game is two files, `<root>/recorded_games/<trial>/<id>.game` and `<id>.json`, its summary, which is written last:
a game without a summary is not there. No row names them, so that recording needs no database. Their names are no
hashes, so that garbage collection of artifacts leaves them alone.

See docs/decisions/gateway.md.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from typing import Any

from orchestrator.storage.artifact_errors import ArtifactStoreUnavailable
from orchestrator.storage.filesystems import asking, open_filesystem, write_whole

FOLDER = "recorded_games"
GAME, SUMMARY, PICTURE = ".game", ".json", ".gif"
OTHERS = "others"
"""The folder of games that belong to no trial."""
MOST_BYTES = 2 << 30
"""Bytes of all recorded games of a trial; the newest stays, whatever its size."""
_TRIAL = re.compile(r"[0-9a-f-]{36}|others")
_ID = re.compile(r"[0-9]{13}-[0-9a-f]{8}")


@dataclass(frozen=True, kw_only=True)
class RecordedSummary:
    """What is known about a recorded game without reading it."""

    id: str
    """Begins with the time, so that names sort by age."""
    session: str
    started_at: float
    """Seconds since 1970."""
    seconds: float
    """How long it took."""
    ticks: int
    size: int
    """Bytes of the file."""
    players: list[str] = field(default_factory=list)
    """Who played each seat; empty where the game played it by itself."""
    returns: list[float] = field(default_factory=list)
    """Empty where there is no result."""
    aborted: str = ""
    """Why there is no result."""
    cut: bool = False
    """It was larger than a recording may be."""
    info: dict[str, Any] = field(default_factory=dict)
    """What agents were told: player, generation, purpose, ..."""


def is_trial(name: str) -> bool:
    """Whether games can be kept under this name: a trial's id."""
    return _TRIAL.fullmatch(name) is not None


class RecordedGames:
    """The recorded games of an artifact store."""

    def __init__(self, artifacts_url: str) -> None:
        self._fs, root = open_filesystem(artifacts_url)
        self._root = posixpath.join(root, FOLDER)

    def put(self, trial: str | None, summary: RecordedSummary, data: bytes, keep: int) -> None:
        """Store a game, and remove the oldest ones of its trial beyond `keep`, or beyond MOST_BYTES together."""
        folder = self._folder(trial)
        write_whole(self._fs, posixpath.join(folder, summary.id + GAME), data)
        written = json.dumps(asdict(summary)).encode()
        write_whole(self._fs, posixpath.join(folder, summary.id + SUMMARY), written)
        sizes = self._sizes(folder)
        ids = sorted(sizes, reverse=True)
        room = sum(so_far <= MOST_BYTES for so_far in accumulate(sizes[id] for id in ids))
        for old in ids[max(1, min(keep, room)) :]:
            for suffix in (SUMMARY, GAME, PICTURE):
                path = posixpath.join(folder, old + suffix)
                with suppress(ArtifactStoreUnavailable, FileNotFoundError), asking(self._fs, path):
                    self._fs.rm_file(path)

    def newest(self, trial: str | None, limit: int, before: str | None = None) -> list[RecordedSummary]:
        """Games of a trial, the newest first."""
        folder = self._folder(trial)
        chosen = [each for each in self._ids(folder) if before is None or each < before][:limit]
        return [found for each in chosen if (found := self._summary(folder, each)) is not None]

    def summary(self, trial: str | None, id: str) -> RecordedSummary | None:
        """One game; None where there is none of this id."""
        return self._summary(self._folder(trial), id) if _ID.fullmatch(id) else None

    def get(self, trial: str | None, id: str, suffix: str = GAME) -> bytes | None:
        """The file of a game, or its picture; None where there is none."""
        if not _ID.fullmatch(id):
            return None
        return self._read(posixpath.join(self._folder(trial), id + suffix))

    def put_picture(self, trial: str | None, id: str, data: bytes) -> None:
        """Keep a picture of a game."""
        write_whole(self._fs, posixpath.join(self._folder(trial), id + PICTURE), data)

    def _folder(self, trial: str | None) -> str:
        name = trial or OTHERS
        if not _TRIAL.fullmatch(name):
            raise ValueError(f"trial {name!r} is no id")
        return posixpath.join(self._root, name)

    def _ids(self, folder: str) -> list[str]:
        """The newest first."""
        return sorted((id for id, suffix, _ in self._files(folder) if suffix == SUMMARY), reverse=True)

    def _sizes(self, folder: str) -> Counter[str]:
        """Bytes of each game with its picture."""
        sizes: Counter[str] = Counter()
        for id, _, size in self._files(folder):
            sizes[id] += size
        return sizes

    def _files(self, folder: str) -> Iterator[tuple[str, str, int]]:
        """Id, suffix and bytes of each file."""
        try:
            self._fs.invalidate_cache()
            with asking(self._fs, folder):
                found = self._fs.ls(folder, detail=True)
        except FileNotFoundError:
            return
        for file in found:
            id, suffix = posixpath.splitext(posixpath.basename(str(file["name"])))
            if _ID.fullmatch(id):
                yield id, suffix, int(file.get("size") or 0)

    def _summary(self, folder: str, id: str) -> RecordedSummary | None:
        data = self._read(posixpath.join(folder, id + SUMMARY))
        if data is None:
            return None
        known = RecordedSummary.__dataclass_fields__
        try:
            return RecordedSummary(**{name: value for name, value in json.loads(data).items() if name in known})
        except (ValueError, TypeError, AttributeError):
            return None

    def _read(self, path: str) -> bytes | None:
        try:
            with asking(self._fs, path):
                return bytes(self._fs.cat_file(path))
        except FileNotFoundError:
            return None
