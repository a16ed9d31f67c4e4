"""Hit a training league with faults of every kind, in pieces that are resumed; count what was lost, doubled or damaged.

A piece is a league of its own, with its own audits. Rows are kept in `benchmarks/results/chaos.json`, written after
each fault: a call continues where another was stopped, and makes faults until there are `--kills` in all.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.faults.campaign.plan import FAULTS_A_PIECE, GROUNDS, ground_of, plan_piece
from benchmarks.faults.campaign.tally import FILE, Row, audited, read_rows, summed, write_rows
from benchmarks.faults.grounds.ground import Ground, Skipped
from benchmarks.faults.grounds.older_code import OlderCode
from benchmarks.faults.grounds.outside_stores import OutsideStores
from benchmarks.faults.grounds.own_clocks import OwnClocks
from benchmarks.faults.grounds.small_disk import SmallDisk
from benchmarks.faults.grounds.two_hosts import TwoHosts
from benchmarks.faults.striking import say

MADE: dict[str, type[Ground]] = {
    "small disk": SmallDisk,
    "outside stores": OutsideStores,
    "own clocks": OwnClocks,
    "two hosts": TwoHosts,
    "older code": OlderCode,
}
REPOSITORY = Path(__file__).parents[2]


def main() -> None:
    arguments = parser().parse_args()
    campaign = Campaign(arguments.file, arguments.folder, arguments.grounds, arguments.piece, alone=arguments.alone)
    campaign.run(arguments.kills)
    result = summed(read_rows(arguments.file))
    print(json.dumps(result) if arguments.json else "\n".join(f"{key}: {value}" for key, value in result.items()))
    whole = result["audits_clean"] == result["audits"] and not result["lost"] + result["doubled"] + result["orphaned"]
    sys.exit(0 if whole and not result["damaged"] else 1)


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--kills", type=int, default=0, help="faults there shall be in all; 0 only adds up the rows")
    found.add_argument("--piece", type=int, default=FAULTS_A_PIECE, help="faults of a piece that begins")
    found.add_argument("--grounds", type=grounds, default=GROUNDS, help=f"some of {', '.join(GROUNDS)}, by commas")
    found.add_argument("--alone", action="store_true", help="say of pieces that begin that nothing else runs here")
    found.add_argument("--file", type=Path, default=FILE, help="the rows so far; new ones are added")
    found.add_argument("--folder", type=Path, default=REPOSITORY / "build" / "chaos", help="data of a piece under way")
    found.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
    return found


def grounds(text: str) -> tuple[str, ...]:
    chosen = tuple(text.split(","))
    if unknown := [name for name in chosen if name not in GROUNDS]:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: allowed are {', '.join(GROUNDS)}")
    return chosen


class Campaign:
    """Pieces one after another, until there are enough faults."""

    def __init__(
        self, file: Path, folder: Path, grounds: tuple[str, ...], faults_a_piece: int, *, alone: bool = False
    ) -> None:
        self._file = file
        self._folder = folder
        self._grounds = grounds
        self._faults_a_piece = faults_a_piece
        self._alone = alone
        self._rows = read_rows(file)

    def run(self, kills: int) -> None:
        skipped: set[str] = set()
        while self._made() < kills and len(skipped) < len(self._grounds):
            row = self._next(kills - self._made(), skipped)
            try:
                self._run_piece(row)
            except Skipped as reason:
                say(f"skipped the faults of {row['ground']}: {reason}")
                skipped.add(row["ground"])
                self._rows.remove(row)

    def _made(self) -> int:
        return sum(len(audited(row)) for row in self._rows)

    def _next(self, wanted: int, skipped: set[str]) -> Row:
        """The piece that was stopped, if its data is still there; else a new one."""
        if self._rows and self._rows[-1]["state"] == "running":
            row = self._rows[-1]
            if self._folder_of(row).exists():
                return row
            say(f"piece {row['piece']} cannot be continued: its data is gone; faults since its last audit do not count")
            row["faults"], row["state"] = audited(row), "abandoned"
        piece = max((row["piece"] for row in self._rows), default=0) + 1
        ground = ground_of(piece, tuple(name for name in self._grounds if name not in skipped))
        plan = plan_piece(piece, ground, min(self._faults_a_piece, max(1, wanted)))
        row = {"piece": piece, "ground": ground, "state": "running", "commit": commit(), "cpus": os.cpu_count()}
        row |= {"alone": True} if self._alone else {}
        row |= {"plan": plan, "faults": [], "audits": [], "seconds": 0.0, "steps": 0, "generations": 0}
        self._rows.append(row)
        return row

    def _folder_of(self, row: Row) -> Path:
        return self._folder / f"piece-{row['piece']}"

    def _run_piece(self, row: Row) -> None:
        from benchmarks.faults.campaign.piece import Piece  # imports the store, which --kills 0 does not need

        folder = self._folder_of(row)
        ground = MADE[row["ground"]](folder)
        say(f"piece {row['piece']} on {row['ground']}: {len(row['plan']) - len(row['faults'])} faults")
        Piece(row, ground, self._save).run()
        ground.close()
        row.pop("plan")
        row.pop("trial")
        self._save()

    def _save(self) -> None:
        write_rows(self._rows, self._file)


def commit() -> str:
    done = subprocess.run(
        ["git", "-C", str(REPOSITORY), "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True
    )
    return done.stdout.strip()


if __name__ == "__main__":
    main()
