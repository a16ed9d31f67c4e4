"""The rows of a campaign: written after each fault, and added up to one result."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

FILE = Path(__file__).parents[2] / "results" / "chaos.json"
WRONG = ("lost", "doubled", "orphaned", "damaged")
QUIET_LOAD = 3.0
"""A load average up to which two cores count as otherwise idle: the league itself makes two."""
Row = dict[str, Any]


def read_rows(file: Path = FILE) -> list[Row]:
    """One row a piece; none where there is no file."""
    rows: list[Row] = json.loads(file.read_text(encoding="utf-8"))["pieces"] if file.exists() else []
    return rows


def write_rows(rows: list[Row], file: Path = FILE) -> None:
    """Write all rows, a fault a line; a run that is stopped meanwhile leaves the old file or the new one."""
    pieces = []
    for row in rows:
        head = {name: value for name, value in row.items() if name not in ("faults", "audits")}
        parts = [json.dumps(head)[1:-1]]
        for name in ("faults", "audits"):
            lines = ",\n   ".join(json.dumps(each) for each in row[name])
            parts.append(f'"{name}": [\n   {lines}]' if lines else f'"{name}": []')
        pieces.append("  {" + ",\n   ".join(parts) + "}")
    text = '{"pieces": [\n' + ",\n".join(pieces) + "\n]}\n"
    temporary = file.with_suffix(".new")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(file)


def summed(rows: list[Row]) -> dict[str, Any]:
    """All pieces as one result. Only faults that an audit followed count."""
    faults = [fault for row in rows for fault in audited(row)]
    audits = [audit for row in rows for audit in row["audits"]]
    recoveries = [fault["recovery_s"] for fault in faults]
    calm = sum(row["calm_steps_s"] * row["seconds"] for row in rows if row.get("calm_steps_s"))
    steps = sum(row["steps"] for row in rows if row.get("calm_steps_s"))
    return {
        "kills": dict(sorted(Counter(fault["kind"] for fault in faults).items())),
        "generations": sum(row["generations"] for row in rows),
        # the last audit of a piece sees its whole league
        **{name: sum(row["audits"][-1][name] for row in rows if row["audits"]) for name in WRONG},
        "audits": len(audits),
        "audits_clean": sum(audit["ok"] for audit in audits),
        "median_recovery_s": round(median(recoveries), 1) if recoveries else None,
        "longest_recovery_s": round(max(recoveries), 1) if recoveries else None,
        "throughput_share": round(steps / calm, 3) if calm else None,
    }


def audited(row: Row) -> list[Row]:
    """The faults of a piece up to its last audit."""
    faults: list[Row] = row["faults"]
    return faults[: row["audits"][-1]["after"]] if row["audits"] else []


def quiet(rows: list[Row]) -> list[Row]:
    """The same rows with only the faults that hit an otherwise idle machine, by its load or as the piece says."""
    return [
        {**row, "faults": [fault for fault in audited(row) if row.get("alone") or fault["load"] <= QUIET_LOAD]}
        for row in rows
    ]
