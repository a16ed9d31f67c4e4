"""Results of measurements that can be continued: one JSON object, an entry for each part that is done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_results(file: Path) -> dict[str, Any]:
    """The parts that are done; none where the file does not exist."""
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def write_results(file: Path, rows: dict[str, Any]) -> None:
    """Write all parts; a run that is stopped meanwhile leaves the old file or the new one."""
    new = file.with_name(f"{file.name}.new")
    new.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    new.replace(file)
