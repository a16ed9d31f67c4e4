"""A league that begins on the code before the last change, and is upgraded while it runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

from benchmarks.faults.grounds.ground import Ground, Skipped

REPOSITORY = Path(__file__).parents[3]
CODE = ("api", "workers", "orchestrator", "league", "lanista", "migrations")


def commit_before() -> str:
    """The commit before the last one that changed the code."""
    last = _git("log", "-1", "--format=%H", "--", *CODE)
    if not last:
        raise Skipped("no git repository with the commit before this one")
    return _git("rev-parse", "--short=10", f"{last}~1")


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(REPOSITORY), *arguments], capture_output=True, text=True)
    return done.stdout.strip()


class OlderCode(Ground):
    """Runs the older code, unpacked in the ground's folder, until `upgrade`."""

    def open(self) -> None:
        self._upgraded = self.folder / "upgraded"
        if not self._upgraded.exists():
            older = self.folder / "older"
            if not older.exists():
                self._unpack(commit_before(), older)
            self.stack.cwd = older
        super().open()

    @property
    def upgraded(self) -> bool:
        return self._upgraded.exists()

    def upgrade(self) -> None:
        """Stop the stack as a person does who upgrades; from here on it starts with this code."""
        self.stack.down()
        self._upgraded.touch()
        self.stack.cwd = None

    @staticmethod
    def _unpack(commit: str, folder: Path) -> None:
        building = folder.with_suffix(".new")
        building.mkdir(parents=True, exist_ok=True)
        archive = subprocess.Popen(["git", "-C", str(REPOSITORY), "archive", commit], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", str(building)], stdin=archive.stdout, check=True)
        if archive.wait() != 0:
            raise Skipped(f"git archive {commit} failed")
        building.rename(folder)
