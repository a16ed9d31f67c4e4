"""The last known versions on disk, so that a server starts and goes on while the API is away.

One folder an alias: a JSON record for each role, weights by their hash, reports that were not delivered yet.
"""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from orchestrator.storage.durable_files import read_whole, write_durably
from workers.serving.comparison import Arm, CanaryReport
from workers.serving.versions import VersionRecord

KEPT = 4
"""Weights of this many versions stay on disk, so that a rollback needs no download."""
_LEFT_BEHIND = 3600.0
"""Seconds after which a temporary file that nobody writes to is that of a process that died."""


class VersionCache:
    """Records and weights in a folder. Several processes may share it: every write is a rename."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._weights = folder / "versions"
        self._reports = folder / "reports"

    def put(self, role: Arm, record: VersionRecord) -> None:
        """Remember that this version has the role now; its weights are stored already."""
        write_durably(self._record(role), json.dumps(record.to_json()).encode())
        self._prune()

    def last(self, role: Arm) -> VersionRecord | None:
        """The version that last had the role; None where none is known or its file is unreadable."""
        try:
            return VersionRecord(**json.loads(self._record(role).read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def forget(self, role: Arm) -> None:
        """No version has the role any more."""
        self._record(role).unlink(missing_ok=True)

    def place(self, sha256: str) -> Path:
        """Where a version's weights belong; its folder is there."""
        self._weights.mkdir(parents=True, exist_ok=True)
        return self._file(sha256)

    def weights(self, sha256: str) -> bytearray | None:
        """Weights of this hash, of which a reader needs no second copy; None where they are not here, or damaged."""
        try:
            data = read_whole(self._file(sha256))
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == sha256 else None

    def keep_report(self, report: CanaryReport) -> None:
        """Keep a report until `delivered`."""
        write_durably(self._reports / f"{report.report_id}.json", json.dumps(asdict(report)).encode())

    def undelivered(self) -> list[CanaryReport]:
        """Reports that were kept, oldest first."""
        reports = []
        for path in sorted(self._reports.glob("*.json"), key=_age):
            with suppress(OSError, ValueError, TypeError):  # another process may have delivered it meanwhile
                reports.append(CanaryReport(**json.loads(path.read_bytes())))
        return reports

    def delivered(self, report: CanaryReport) -> None:
        """The report is recorded: forget it."""
        (self._reports / f"{report.report_id}.json").unlink(missing_ok=True)

    def _record(self, role: Arm) -> Path:
        return self.folder / f"{role}.json"

    def _file(self, sha256: str) -> Path:
        return self._weights / f"{sha256}.safetensors"

    def _prune(self) -> None:
        """Remove all but the newest weights and those of the present versions."""
        present = {record.sha256 for role in Arm if (record := self.last(role)) is not None}
        files = sorted(self._weights.glob("*.safetensors"), key=_age, reverse=True)
        for path in [path for path in files if path.stem not in present][KEPT:]:
            path.unlink(missing_ok=True)
        for path in self._weights.glob("*.partial"):
            if _age(path) < time.time() - _LEFT_BEHIND:
                path.unlink(missing_ok=True)


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
