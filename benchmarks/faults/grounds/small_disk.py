"""Artifacts on a small disk of their own (tmpfs), which can be filled without harm to the machine."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from pathlib import Path

from benchmarks.faults.grounds.ground import Ground, Skipped

SIZE = "512m"


class SmallDisk(Ground):
    """`fill` takes all the space there is; `free` gives it back."""

    def open(self) -> None:
        if os.getuid() != 0:
            raise Skipped("only root can mount a tmpfs")
        self.stack.home.create()
        if not os.path.ismount(self.stack.home.artifacts):
            command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "tmpfs", str(self.stack.home.artifacts)]
            subprocess.run(command, check=True)
        self.free()
        super().open()

    def close(self) -> None:
        self.stack.down()
        subprocess.run(["umount", "--lazy", str(self.stack.home.artifacts)], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def fill(self) -> int:
        """Take the free space; returns how many bytes."""
        while True:
            space = shutil.disk_usage(self.stack.home.artifacts).free
            try:
                with self._filler.open("wb") as file:
                    os.posix_fallocate(file.fileno(), 0, max(1, space))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                continue  # the league has taken some of it meanwhile
            return space

    def free(self) -> None:
        self._filler.unlink(missing_ok=True)

    @property
    def _filler(self) -> Path:
        return self.stack.home.artifacts / "filler"
