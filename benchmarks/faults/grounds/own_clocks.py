"""Parts whose clocks can be stepped one by one: libfaketime reads an offset from a file for each part."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from benchmarks.faults.grounds.ground import Ground, Skipped

PARTS = {"store-worker": "worker store", "train-worker": "worker train", "api": "api"}
"""The Python parts, by the arguments that start them."""
SLEEP = """import select
import time


def sleep(seconds):
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    select.select([], [], [], seconds)


time.sleep = sleep
"""
"""libfaketime refuses Python's own sleep, which waits for a moment of the monotonic clock: EINVAL. It leaves select."""


def libfaketime() -> Path:
    """Debian's library, or the one that LIBFAKETIME names; raises Skipped where there is none."""
    if named := os.environ.get("LIBFAKETIME"):
        return Path(named)
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        raise Skipped("libfaketime is not installed: apt-get install faketime")
    return found[0]


class OwnClocks(Ground):
    """Starts the parts through a script in the place of Python, which preloads libfaketime."""

    def open(self) -> None:
        programs = self.folder / "bin"
        programs.mkdir(exist_ok=True)
        self._clocks.mkdir(exist_ok=True)
        for part in PARTS:
            self.step(part, 0)
        for name in ("ray", "temporal"):  # the supervisor looks for them beside its own Python
            link = programs / name
            link.unlink(missing_ok=True)
            link.symlink_to(Path(sys.executable).parent / name)
        self._site.mkdir(exist_ok=True)
        (self._site / "sitecustomize.py").write_text(SLEEP)
        launcher = programs / "launcher.py"
        launcher.write_text(
            f"import runpy, sys\nsys.executable = {str(programs / 'python')!r}\n"
            "runpy.run_module('lanista', run_name='__main__', alter_sys=True)\n"
        )
        script = programs / "python"
        script.write_text(self._script(launcher))
        script.chmod(0o755)
        self.stack.python = str(script)
        super().open()

    def step(self, part: str, seconds: int) -> None:
        """Set a part's clock this far off."""
        (self._clocks / part).write_text(f"{seconds:+d}\n")

    @property
    def _site(self) -> Path:
        return self.folder / "site"

    @property
    def _clocks(self) -> Path:
        return self.folder / "clocks"

    def _script(self, launcher: Path) -> str:
        real, library = shlex.quote(sys.executable), shlex.quote(str(libfaketime()))
        lines = ["#!/bin/sh", 'case "$*" in']
        for part, arguments in PARTS.items():
            clock = shlex.quote(str(self._clocks / part))
            lines += [
                f'"-m lanista {arguments}"*)',
                f"  export LD_PRELOAD={library} FAKETIME_TIMESTAMP_FILE={clock}",
                # a stepped clock leaves the monotonic one alone
                "  export FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_CACHE_DURATION=1",
                f"  export PYTHONPATH={shlex.quote(str(self._site))}${{PYTHONPATH:+:$PYTHONPATH}} ;;",
            ]
        # `up --detach` starts itself again: the supervisor must look for Python here too
        lines += [
            '"-m lanista up"*)',
            f'  shift 2; exec {real} {shlex.quote(str(launcher))} "$@" ;;',
            "esac",
            f'exec {real} "$@"',
        ]
        return "\n".join(lines) + "\n"
