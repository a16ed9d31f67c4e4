"""A stack in a folder of its own, without anything around it; other grounds derive from it."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.stacks.local_stack import LocalStack


class Skipped(Exception):
    """The ground cannot be had on this machine; the message says why."""


class Ground:
    """Everything embedded. `open` is idempotent, so that a piece can be resumed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        # Ray's actors are nice by default, and would wait for everything else on a machine with other work
        self.stack = LocalStack(folder, {"RAY_worker_niceness": "0", "LANISTA_GATEWAY": "false", **self.settings()})

    def settings(self) -> dict[str, str]:
        """Environment variables of the stack."""
        return {}

    def open(self) -> None:
        """Make what surrounds the stack, and start it."""
        self.stack.home.create()
        self.stack.start()

    def close(self) -> None:
        """Stop the stack and remove its folder."""
        self.stack.down()
        shutil.rmtree(self.folder, ignore_errors=True)
